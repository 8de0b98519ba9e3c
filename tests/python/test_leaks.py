"""100,000 objects of each kind come and go, and memory stays as it was. In a process of its own each, so
that what other tests left does not count."""

import pytest

from conftest import run_child

# One line each that makes and drops an object, or a few; `i` counts.
OBJECTS = {
    "streams": "runtime.Stream()",
    "events": "runtime.Event().record(stream)",
    "signals": "runtime.Signal().set()",
    "arrays": "runtime.empty(16)",
    "arrays of a pool": "pool.allocate(64, stream=stream)",
    "views": "memoryview(x); x.reshape(2, 2)[0].read_only()",
    "numpy arrays": "x.numpy()",
    "kernels": "stream.launch_kernel(lambda values: None, (x,)); i % 100 or stream.synchronize()",
    "callbacks": "stream.callback(lambda: None); i % 100 or stream.synchronize()",
    "copies on a stream":
        "x.copy_from(np.zeros(4, np.float32), stream); i % 100 or stream.synchronize()",
    "exceptions": "fails()",
    "graphs": "with stream.capture() as g: stream.launch_kernel(lambda: g)",
    "captures that are dropped": "stream.capture().__enter__()",
    "nodes of a dataflow": "flow and flow.submit(lambda values: None, (), x)",
    "failures that were told":
        "stream.launch_kernel(fail); i % 100 or told()",
    "devices": "runtime.Device(0).get_properties()",
}

PROGRAM = '''
import gc, resource, numpy as np, runtime
runtime.init(devices=1)
stream, pool, x = runtime.Stream(), runtime.Pool(release_threshold=1 << 30), runtime.zeros(4)
flow = runtime.Dataflow(streams=1) if hasattr(runtime, "Dataflow") else None
def fail(): raise KeyError
def told():
    try: stream.synchronize()
    except runtime.Error: pass
def fails():
    try: runtime.Device(9)
    except runtime.Error: pass
def resident():
    with open("/proc/self/statm") as f: return int(f.read().split()[1]) * resource.getpagesize()
def turn(first, count):
    for i in range(first, first + count):
        LINE
    told()
    if flow: flow.wait_all()
    gc.collect()
turn(0, COUNT // 5)
before, objects = resident(), len(gc.get_objects())
turn(0, COUNT)
print((resident() - before) // 1024, len(gc.get_objects()) - objects)
info = runtime.get_device_memory_info(0)
print(runtime.Device(0).counters().streams, runtime.Device(0).counters().events)
'''


@pytest.mark.parametrize("kind", OBJECTS)
def test_nothing_is_left_of_100_000(kind):
    code, said = run_child(PROGRAM.replace("LINE", OBJECTS[kind]).replace("COUNT", "100_000"),
                           timeout=280)
    assert code == 0, said
    grown_kib, objects, streams, events = map(int, said.split())
    assert grown_kib < 3000, f"{grown_kib} KiB for 100,000 {kind}"
    assert objects < 50 and streams <= 4 and events <= 4
