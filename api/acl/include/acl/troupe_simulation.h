/* Deterministic runs of programs of this interface, for their tests: one thing happens at a time,
   in an order drawn from a seed, in virtual time. No other interface has this. */
#ifndef TROUPE_SIMULATION_H
#define TROUPE_SIMULATION_H

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct troupeSimulation {
  uint64_t seed;         /* 0: first come, first served, durations as modelled; else any order */
  uint64_t stepsMax;     /* a longer run counts as hung; 0: 1000000 */
  const char* faultPlan; /* a file as TROUPE_FAULT_PLAN names; null: no faults */
} troupeSimulation;

typedef struct troupeSimulationResult {
  uint64_t steps;
  uint64_t nanoseconds; /* of virtual time */
  uint64_t order;       /* equal for runs in which the same happened in one order */
  uint64_t faults;      /* that struck */
  int32_t hung;         /* 1: nothing could happen any more, and somebody waited */
  char report[4096];    /* what went wrong; empty: nothing */
} troupeSimulationResult;

/* Runs `body` on the calling thread, as first client of a runtime of its own, with the options that
   the environment gives; the process's other runtime, and the thread's context, are back
   afterwards. Code 507000 when the run hung, broke a rule of the simulation or threw; what waited
   in a hang was let go with 107019. 100000 for a null argument, 207000 inside another run; those of
   a wrong fault plan. Meanwhile no other thread may call but clients; they wait for each other by
   what is said here, events, notifies and streams, never by means of their own. Reports of
   callbacks are not processed in a run (207000). Handles made in a run end with it. */
ACL_FUNC_VISIBILITY aclError troupeSimulate(const troupeSimulation* how, void (*body)(void*),
    void* argument, troupeSimulationResult* result);

/* Another client: a thread that runs `body` when it is its turn; need not be joined. Inside a run, as
   the two below; 100001 elsewhere. */
ACL_FUNC_VISIBILITY aclError troupeStartClient(const char* name, void (*body)(void*),
    void* argument, uint32_t* client);
ACL_FUNC_VISIBILITY aclError troupeJoinClient(uint32_t client);

/* Lets time pass. */
ACL_FUNC_VISIBILITY aclError troupePassTime(uint64_t nanoseconds);

#ifdef __cplusplus
}
#endif

#endif /* TROUPE_SIMULATION_H */
