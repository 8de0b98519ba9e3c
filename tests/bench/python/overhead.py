"""What the Python module adds to a call of the C++ facade: rows py_launch and py_copy_1m.

The two take turns, so that a noisy moment of the machine meets both; medians. The loop around the calls
of Python is measured alone and taken off. Usage: overhead.py [--repeats N]
"""

import argparse
import statistics
import time

import numpy as np

import runtime
import troupe_python_peer

LAUNCHES, COPIES = 800, 50


def nothing():
    pass


def each(count, call):
    begun = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begun) / count * 1e9


def launch(stream):
    held = runtime.Signal()
    stream.wait(held)
    spent = each(LAUNCHES, lambda: stream.launch_kernel(nothing))
    held.set()
    stream.synchronize()
    return spent


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--repeats", type=int, default=31)
    repeats = asked.parse_args().repeats
    peer = troupe_python_peer.Peer()
    with runtime.init():
        stream, target = runtime.Stream(), runtime.empty(1 << 20, np.uint8)
        source = np.zeros(1 << 20, np.uint8)
        turns = {"py_launch": (lambda: peer.launch(LAUNCHES), lambda: launch(stream)),
                 "py_copy_1m": (lambda: peer.copy(COPIES),
                                lambda: each(COPIES, lambda: runtime.memcpy_host_to_device(target, source)))}
        loop = statistics.median(each(LAUNCHES, nothing) for _ in range(repeats))
        for row, (native, python) in turns.items():
            native(), python()
            pairs = [(native(), python() - loop) for _ in range(repeats)]
            in_cxx, in_python = (statistics.median(each) for each in zip(*pairs))
            more = statistics.median(b - a for a, b in pairs)
            ratio = statistics.median(b / a for a, b in pairs)
            print(f"{row:12} C++ {in_cxx:9.0f} ns   Python {in_python:9.0f} ns   "
                  f"more {more:7.0f} ns   ratio {ratio:6.3f}")


if __name__ == "__main__":
    main()
