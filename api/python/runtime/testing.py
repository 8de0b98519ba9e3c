"""Simulated runs: what does the runtime do to my code in another order of events, or under faults?

A body is a function of a ``Stage``. In it the module ``runtime`` means the runtime of the run: devices,
streams, arrays and kernels are used as ever, while one thing happens at a time, chosen from a seed, in
virtual time. Each function takes, as keyword arguments, what a run is like:

=============  ==================  ====================================================================
``seed``       0                   of the choices, for ``order="explore"``
``order``      ``"fifo"``          first come, first served; or ``"explore"``: drawn from the seed
``ends``       ``"when_due"``      work ends by its modelled duration; or ``"any_order"``
``plan``       none                a fault plan, as a dictionary or JSON text; see core/faults
``costs``      none                nanoseconds by kernel name (None: never ends), ``launch_ns``, ...
``options``    none                options of the runtime, as a dictionary; ``{"devices": 2}``
``script``     none                replays this schedule
``steps_max``  1,000,000           a longer run counts as hung
``keep_trace`` False               for ``Report.trace`` and ``chain``
``oracles_off`` none               names of rules that are not asked
=============  ==================  ====================================================================

    from runtime import testing

    def body(stage):
        x = runtime.zeros(4)
        ...

    print(testing.explore(body, runs=500))
"""

import dataclasses

from . import _runtime
from ._runtime import Client, Stage
from .errors import RunEnded

__all__ = ["BrokenRule", "Client", "Exploration", "Failure", "Finding", "Hang", "Report", "RunEnded",
           "Stage", "Sweep", "explore", "replay", "simulate", "sweep"]


class Hang(AssertionError):
    """A simulated run came to where nothing could happen any more; the text says who waits for what."""

    def __init__(self, report):
        super().__init__(report.hang)
        self.report = report  #: the ``Report`` of the run


class BrokenRule(AssertionError):
    """The runtime broke rules of its own in a simulated run; the text has them, one a line."""

    def __init__(self, report):
        super().__init__("\n".join(report.violations))
        self.report = report  #: the ``Report`` of the run


@dataclasses.dataclass
class Report:
    """What came of a simulated run."""

    hang: "str | None"  #: who waited when nothing could happen any more
    steps: int
    elapsed: float  #: virtual seconds
    order_hash: int  #: equal for runs in which the same happened in one order
    strategy: str
    script: str  #: the schedule as a line that replays it
    trace: list
    chain: list  #: of the trace, the lines that led to the end
    faults: dict  #: what the plan did
    unmet: list  #: entries of a replayed script that nothing fitted
    violations: list  #: rules of the runtime that were broken

    def expect_end(self):
        """Returns the report of a run that came to its end; raises ``Hang`` for one that hung and
        ``BrokenRule`` for one in which a rule was broken."""
        if self.hang is not None:
            raise Hang(self)
        if self.violations:
            raise BrokenRule(self)
        return self


@dataclasses.dataclass
class Failure:
    """A run that failed, made as small as it would go."""

    seed: int
    what: str
    script: str  #: replays it: ``replay(body, seed, script)``
    entries: int
    reproduced: bool
    found_after: int
    trace: str
    chain: str


@dataclasses.dataclass
class Exploration:
    """What a search has seen; as text, how to see a failure again."""

    runs: int
    distinct_orders: int
    steps: int
    failure: "Failure | None"
    never_fired: list  #: entries of the plan that struck in no run
    description: str

    def __str__(self):
        return self.description


@dataclasses.dataclass
class Finding:
    """A fault under which a run failed."""

    fault: str
    victim: str
    what: str


@dataclasses.dataclass
class Sweep:
    """What came of a sweep of single faults."""

    runs: int
    faults: int
    findings: list
    description: str

    def __str__(self):
        return self.description


def simulate(body, **settings):
    """Runs ``body(stage)`` once and returns a ``Report``; raises what the body or a client raises. A
    hang is told in the report, and raised by its ``expect_end``."""
    return Report(**_runtime._simulate(body, settings))


def explore(body, *, runs=200, first_seed=1, **settings):
    """Runs the body under one seed after the other until a run fails, and makes that one small. A run
    fails when it raises, hangs, breaks a rule of the runtime, or observes something else than the
    plainest run."""
    found = _runtime._explore(body, settings, first_seed, runs)
    if found["failure"] is not None:
        found["failure"] = Failure(**found["failure"])
    return Exploration(**found)


def replay(body, seed, script, **settings):
    """One run of a search again; returns what went wrong, or an empty text."""
    return _runtime._replay(body, settings, seed, script)


def sweep(body, *, stride=1, **settings):
    """Runs the body under one fault after the other, of every kind and at everything it can strike;
    with a stride only at every so-and-so-many-th."""
    found = _runtime._sweep(body, settings, stride)
    found["findings"] = [Finding(*each) for each in found["findings"]]
    return Sweep(**found)
