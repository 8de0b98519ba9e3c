"""Failures of the runtime as exceptions.

Every exception has a ``code`` (the AscendCL number), its ``name``, the ``message``, the ``origin`` (a
dictionary of what is known: device, context, stream, task_number, task_name, thread, plan_entry of a
fault plan, and for shortages ``lacking`` with resource, asked, used and limit) and a ``cause``: the
failure that led to this one, or what a kernel written in Python raised; it is ``__cause__`` as well.
"""

__all__ = ["Error", "NotInitialized", "InvalidArgument", "InvalidHandle", "OutOfMemory", "Timeout",
           "Aborted", "KernelFailed", "RunEnded", "Stopped"]


class Error(RuntimeError):
    """A failure of the runtime; the classes below tell the usual kinds apart."""

    def __init__(self, message="", code=507000, name="internal_error", origin=None, cause=None):
        super().__init__(message)
        self.message = message
        self.code = code
        self.name = name
        self.origin = dict(origin or {})
        self.cause = cause
        self.__cause__ = cause

    def __str__(self):
        return f"{self.message} [{self.name}, {self.code}]"

    def __repr__(self):
        return f"{type(self).__name__}({self.code}, {self.name!r}, {self.message!r})"

    def __reduce__(self):
        return type(self), (self.message, self.code, self.name, self.origin)


class NotInitialized(Error):
    """The runtime is not there: no ``init`` yet, or ``shutdown`` since (100001)."""


class InvalidArgument(Error, ValueError):
    """A mistake of the caller (100000, 107000, 107001, 107003)."""


class InvalidHandle(Error):
    """An object that has ended: a destroyed stream, event, context ... (107017, 507007)."""


class OutOfMemory(Error, MemoryError):
    """No room on the device, in the context's limit or in the process's budget (207001, 207018)."""


class Timeout(Error, TimeoutError):
    """A wait came to its limit; the work goes on (107019, 107020, 507046, 507047)."""


class Aborted(Error):
    """Work was dropped (107022, 107023)."""


class KernelFailed(Error):
    """A kernel or callback failed (507015, and whatever comes of Python code)."""


class RunEnded(BaseException):
    """A simulated run is over, since it hung: who still waits in it is let go by this. Not to be
    caught."""


class Stopped(BaseException):
    """Raised in a kernel written in Python that runs on though nobody wants its result any more: its
    stream was aborted or destroyed by force, or the runtime ends."""


_classes = {100000: InvalidArgument, 107000: InvalidArgument, 107001: InvalidArgument,
            107003: InvalidArgument, 100001: NotInitialized, 107017: InvalidHandle,
            507007: InvalidHandle, 207001: OutOfMemory, 207018: OutOfMemory, 107019: Timeout,
            107020: Timeout, 507046: Timeout, 507047: Timeout, 107022: Aborted, 107023: Aborted,
            507015: KernelFailed}


def _make(code, name, message, origin, cause):
    """The exception for a failure of the runtime."""
    return _classes.get(code, Error)(message, code, name, origin, cause)
