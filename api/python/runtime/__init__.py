"""A device runtime: devices, streams, events, memory, kernels and graphs, in a process of its own.

    import numpy as np
    import runtime

    with runtime.init():
        x = runtime.array(np.arange(8, dtype=np.float32))
        with runtime.Stream() as stream:
            stream.launch_kernel(lambda values: np.multiply(values, 2, out=values), (x,))
            stream.synchronize()
        print(x.numpy())

Every failure is a ``runtime.Error`` with code, origin and cause; see ``runtime.errors``. How to test
code that uses the runtime, under faults and in every order of events: ``runtime.testing``.
"""

from . import errors, testing
from .errors import (Aborted, Error, InvalidArgument, InvalidHandle, KernelFailed, NotInitialized,
                     OutOfMemory, RunEnded, Stopped, Timeout)
from ._runtime import *

__all__ = [name for name in dir() if not name.startswith("_")]
