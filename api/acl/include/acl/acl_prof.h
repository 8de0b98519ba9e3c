/* Profiling: declared, not supported by this library. */
#ifndef TROUPE_ACL_PROF_H
#define TROUPE_ACL_PROF_H

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MSVP_PROF_API __attribute__((visibility("default")))

#define ACL_PROF_ACL_API 0x00000001ULL
#define ACL_PROF_TASK_TIME 0x00000002ULL
#define ACL_PROF_AICORE_METRICS 0x00000004ULL
#define ACL_PROF_AICPU 0x00000008ULL
#define ACL_PROF_L2CACHE 0x00000010ULL
#define ACL_PROF_HCCL_TRACE 0x00000020ULL
#define ACL_PROF_TRAINING_TRACE 0x00000040ULL
#define ACL_PROF_MSPROFTX 0x00000080ULL
#define ACL_PROF_RUNTIME_API 0x00000100ULL
#define ACL_PROF_TASK_TIME_L0 0x00000800ULL
#define ACL_PROF_TASK_MEMORY 0x00001000ULL
#define ACL_PROF_OP_ATTR 0x00004000ULL
#define ACL_PROF_MAX_OP_NAME_LEN 257
#define ACL_PROF_MAX_OP_TYPE_LEN 65

typedef enum {
  ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
  ACL_AICORE_PIPE_UTILIZATION = 1,
  ACL_AICORE_MEMORY_BANDWIDTH = 2,
  ACL_AICORE_L0B_AND_WIDTH = 3,
  ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,
  ACL_AICORE_MEMORY_UB = 5,
  ACL_AICORE_L2_CACHE = 6,
  ACL_AICORE_PIPE_EXECUTE_UTILIZATION = 7,
  ACL_AICORE_MEMORY_ACCESS = 8,
  ACL_AICORE_NONE = 255
} aclprofAicoreMetrics;

typedef enum {
  ACL_STEP_START = 0,
  ACL_STEP_END = 1
} aclprofStepTag;

typedef enum {
  ACL_PROF_ARGS_MIN = 0,
  ACL_PROF_STORAGE_LIMIT = 1,
  ACL_PROF_AIV_METRICS = 2,
  ACL_PROF_SYS_HARDWARE_MEM_FREQ = 3,
  ACL_PROF_LLC_MODE = 4,
  ACL_PROF_SYS_IO_FREQ = 5,
  ACL_PROF_SYS_INTERCONNECTION_FREQ = 6,
  ACL_PROF_DVPP_FREQ = 7,
  ACL_PROF_HOST_SYS = 8,
  ACL_PROF_HOST_SYS_USAGE = 9,
  ACL_PROF_HOST_SYS_USAGE_FREQ = 10,
  ACL_PROF_ARGS_MAX = 11
} aclprofConfigType;

typedef struct aclprofConfig aclprofConfig;
typedef struct aclprofStopConfig aclprofStopConfig;
typedef struct aclprofAicoreEvents aclprofAicoreEvents;
typedef struct aclprofSubscribeConfig aclprofSubscribeConfig;
typedef struct aclprofStepInfo aclprofStepInfo;

/* Profiling. */
MSVP_PROF_API aclError aclprofInit(const char* profilerResultPath, size_t length);
MSVP_PROF_API aclError aclprofSetConfig(aclprofConfigType configType, const char* config,
    size_t configLength);
MSVP_PROF_API aclError aclprofFinalize(void);
MSVP_PROF_API aclError aclprofStart(const aclprofConfig* profilerConfig);
MSVP_PROF_API aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums,
    aclprofAicoreMetrics aicoreMetrics, const aclprofAicoreEvents* aicoreEvents,
    uint64_t dataTypeConfig);
MSVP_PROF_API aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig);
MSVP_PROF_API aclError aclprofStop(const aclprofConfig* profilerConfig);
MSVP_PROF_API aclError aclprofModelSubscribe(uint32_t modelId,
    const aclprofSubscribeConfig* profSubscribeConfig);
MSVP_PROF_API aclError aclprofModelUnSubscribe(uint32_t modelId);
MSVP_PROF_API aclprofSubscribeConfig* aclprofCreateSubscribeConfig(int8_t timeInfoSwitch,
    aclprofAicoreMetrics aicoreMetrics, void* fd);
MSVP_PROF_API aclError aclprofDestroySubscribeConfig(
    const aclprofSubscribeConfig* profSubscribeConfig);
MSVP_PROF_API aclError aclprofGetOpDescSize(size_t* opDescSize);
MSVP_PROF_API aclError aclprofGetOpNum(const void* opInfo, size_t opInfoLen, uint32_t* opNumber);
MSVP_PROF_API aclError aclprofGetOpTypeLen(const void* opInfo, size_t opInfoLen, uint32_t index,
    size_t* opTypeLen);
MSVP_PROF_API aclError aclprofGetOpType(const void* opInfo, size_t opInfoLen, uint32_t index,
    char* opType, size_t opTypeLen);
MSVP_PROF_API aclError aclprofGetOpNameLen(const void* opInfo, size_t opInfoLen, uint32_t index,
    size_t* opNameLen);
MSVP_PROF_API aclError aclprofGetOpName(const void* opInfo, size_t opInfoLen, uint32_t index,
    char* opName, size_t opNameLen);
MSVP_PROF_API uint64_t aclprofGetOpStart(const void* opInfo, size_t opInfoLen, uint32_t index);
MSVP_PROF_API uint64_t aclprofGetOpEnd(const void* opInfo, size_t opInfoLen, uint32_t index);
MSVP_PROF_API uint64_t aclprofGetOpDuration(const void* opInfo, size_t opInfoLen, uint32_t index);
MSVP_PROF_API size_t aclprofGetModelId(const void* opInfo, size_t opInfoLen, uint32_t index);
MSVP_PROF_API aclError aclprofGetStepTimestamp(aclprofStepInfo* stepInfo, aclprofStepTag tag,
    aclrtStream stream);
MSVP_PROF_API aclprofStepInfo* aclprofCreateStepInfo(void);
MSVP_PROF_API void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo);
MSVP_PROF_API void* aclprofCreateStamp(void);
MSVP_PROF_API void aclprofDestroyStamp(void* stamp);
MSVP_PROF_API aclError aclprofPush(void* stamp);
MSVP_PROF_API aclError aclprofPop(void);
MSVP_PROF_API aclError aclprofRangeStart(void* stamp, uint32_t* rangeId);
MSVP_PROF_API aclError aclprofRangeStop(uint32_t rangeId);
MSVP_PROF_API aclError aclprofSetStampTraceMessage(void* stamp, const char* msg, uint32_t msgLen);
MSVP_PROF_API aclError aclprofMark(void* stamp);
MSVP_PROF_API aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* TROUPE_ACL_PROF_H */
