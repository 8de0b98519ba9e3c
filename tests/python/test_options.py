"""The three options change what happens, which counters and virtual time show."""

import numpy as np
import pytest

import runtime
from runtime import testing

SMALL = {"devices": [{"memory_bytes": 1 << 28}]}


def allocations_of(work):
    before = runtime.Device(0).counters().allocations
    work()
    return runtime.Device(0).counters().allocations - before


def test_memory_reuse_hands_freed_memory_out_again(rt):
    def work():
        for _ in range(100):
            x = runtime.zeros(1 << 14, np.uint8)
            runtime.device_free(x)

    assert allocations_of(work) == 100
    runtime.set_option("enableMemoryReuse", True)
    assert allocations_of(work) <= 3
    cached = runtime.get_device_memory_info(0).cached
    assert cached > 0, "what was freed is kept"
    assert allocations_of(work) == 0
    runtime.set_option("enableMemoryReuse", False)
    assert allocations_of(work) == 100


def test_reused_memory_is_not_shared(rt):
    runtime.set_option("enableMemoryReuse", True)
    runtime.set_option("enableAsync", True)
    arrays = [runtime.array(np.full(100, i)) for i in range(50)]
    for i in range(0, 50, 2):
        arrays[i] = None
    more = [runtime.array(np.full(100, 1000 + i)) for i in range(50)]
    for i in range(1, 50, 2):
        assert (arrays[i].numpy() == i).all()
    for i, each in enumerate(more):
        assert (each.numpy() == 1000 + i).all()


def pipeline(stage, count=8):
    """Uploads, and work on what was uploaded; returns the virtual time that it took."""
    host = np.arange(1 << 20, dtype=np.uint8)
    inputs = [runtime.empty(1 << 20, np.uint8) for _ in range(count)]
    outputs = [runtime.empty(1 << 20, np.uint8) for _ in range(count)]
    begun = stage.elapsed
    for given, made in zip(inputs, outputs):
        runtime.memcpy_host_to_device(given, host)
        runtime.memcpy_d2d(made, given)
    submitted = stage.elapsed
    runtime.stream_synchronize()
    ended = stage.elapsed
    for made in outputs:
        assert np.array_equal(made.numpy(), host)
    return submitted - begun, ended - begun


def measured(**options):
    result = []
    for name, value in options.items():
        runtime.set_option(name, value)
    profile = {"memory_bytes": 1 << 28, "link_bandwidth": 1e9, "memory_bandwidth": 1e9}
    report = testing.simulate(lambda stage: result.append(pipeline(stage)),
                              options={"devices": [profile]})
    assert report.hang is None and report.violations == []
    return result[0]


def test_async_calls_return_before_their_work_is_done():
    submitted, total = measured(enableAsync=False)
    assert submitted == total > 0.008, "each call waited for its own work"
    submitted, total = measured(enableAsync=True)
    assert submitted == 0 and total > 0.016


def test_pipelining_overlaps_copies_and_work():
    _, alone = measured(enableAsync=True, enablePipelining=False)
    _, overlapped = measured(enableAsync=True, enablePipelining=True)
    assert alone > 0.016
    assert overlapped < 0.6 * alone, "8 uploads and 8 copies of a millisecond each, side by side"


@pytest.mark.parametrize("pipelining", [False, True])
@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("reuse", [False, True])
def test_results_are_those_of_one_call_after_the_other(pipelining, later, reuse):
    def body(stage):
        a, b = runtime.zeros(64, np.uint8), runtime.zeros(64, np.uint8)
        for i in range(5):
            a.copy_from(np.full(64, i, np.uint8))
            b.copy_from(a)
            runtime.launch_kernel(lambda values: values.fill(98), (a,))
            runtime.launch_kernel(lambda values: values.__iadd__(1), (a,))
            assert b.numpy().tolist() == [i] * 64
            assert a.numpy().tolist() == [99] * 64
        stage.observe("b", b.numpy())

    for name, value in (("enablePipelining", pipelining), ("enableAsync", later),
                        ("enableMemoryReuse", reuse)):
        runtime.set_option(name, value)
    found = testing.explore(body, runs=30, options=SMALL)
    assert found.failure is None, str(found)


@pytest.mark.parametrize("pipelining", [False, True])
def test_memory_that_is_handed_out_again_waits_for_its_former_life(pipelining):
    def body(stage):
        for i in range(3):
            x = runtime.empty(64, np.uint8)
            runtime.fill(x, 99)
            runtime.device_free(x)
            y = runtime.array(np.full(64, i, np.uint8))
            assert y.numpy().tolist() == [i] * 64
            runtime.set_option("enableAsync", False)
            runtime.fill(y, 98)
            runtime.set_option("enableAsync", True)
            del y
            z = runtime.empty(64, np.uint8)
            runtime.fill(z, 97)
            runtime.device_free(z)
            z = runtime.empty(64, np.uint8)
            runtime.memcpy_batch([(z, np.full(64, i, np.uint8))])
            runtime.stream_synchronize()
            assert z.numpy().tolist() == [i] * 64

    for name, value in (("enableMemoryReuse", True), ("enableAsync", True),
                        ("enablePipelining", pipelining)):
        runtime.set_option(name, value)
    found = testing.explore(body, runs=60, options=SMALL)
    assert found.failure is None, str(found)


def test_async_uploads_take_a_snapshot(rt):
    runtime.set_option("enableAsync", True)
    host = np.zeros(1 << 20, np.uint8)
    arrays = []
    for i in range(10):
        host[:] = i
        arrays.append(runtime.empty(1 << 20, np.uint8))
        runtime.memcpy_host_to_device(arrays[-1], host)
    assert [int(x.numpy()[-1]) for x in arrays] == list(range(10))


def test_options_may_change_in_the_middle(rt):
    x, y = runtime.zeros(1000, np.int32), runtime.zeros(1000, np.int32)
    for i in range(40):
        runtime.set_option("enablePipelining", i % 2 == 0)
        runtime.set_option("enableAsync", i % 3 == 0)
        runtime.set_option("enableMemoryReuse", i % 5 == 0)
        x.copy_from(np.full(1000, i, np.int32))
        y.copy_from(x)
        z = runtime.array(np.full(1000, -i, np.int32))
        assert (y.numpy() == i).all() and (z.numpy() == -i).all()


def test_unknown_options_and_values_are_refused():
    assert runtime.get_option("enableAsync") is False
    for name, value in (("enableMagic", True), ("enableAsync", 1), ("enableAsync", "yes"),
                        ("enableAsync", None), ("", True)):
        with pytest.raises(runtime.InvalidArgument):
            runtime.set_option(name, value)
    with pytest.raises(runtime.InvalidArgument):
        runtime.get_option("enableMagic")
    with pytest.raises(TypeError):
        runtime.set_option(3, True)


def test_a_kernel_without_a_stream_is_ordered_by_its_arrays(rt):
    for later in (False, True):
        runtime.set_option("enableAsync", later)
        x, y = runtime.zeros(8, np.int32, 1), runtime.zeros(8, np.int32, 1)
        for _ in range(20):
            runtime.launch_kernel(lambda a: a.__iadd__(1), (x,))
            runtime.launch_kernel(lambda a, b: np.add(a, b, out=b), (x.read_only(), y))
        assert y.numpy().tolist() == [210] * 8
    runtime.set_option("enableAsync", False)
    with pytest.raises(runtime.KernelFailed):
        runtime.launch_kernel(lambda: 1 / 0)
    runtime.launch_kernel(lambda: None)


def test_failures_of_async_calls_are_raised_by_who_looks_at_their_results(rt):
    runtime.set_option("enableAsync", True)
    x = runtime.zeros(4)
    runtime.launch_kernel(lambda values: 1 / 0, (x,))
    with pytest.raises(runtime.KernelFailed):
        x.numpy()
    with pytest.raises(runtime.KernelFailed):
        runtime.stream_synchronize()
    runtime.stream_synchronize()


def test_async_calls_go_on_when_the_device_has_no_event_left():
    runtime.set_option("enableAsync", True)
    with runtime.init(devices=[{"event_limit": 8}]):
        arrays = [runtime.full(16, i, np.int32) for i in range(50)]
        for i, x in enumerate(arrays):
            runtime.launch_kernel(lambda values: values.__iadd__(1), (x,))
        assert [int(x.numpy()[5]) for x in arrays] == [i + 1 for i in range(50)]


def doubles(values):
    np.multiply(values, 2, out=values)


VIEWS = []  # of the array of the test below, taken while nothing was under way

# What a stream of one's own is given, by how it is submitted.
SUBMISSIONS = {
    "kernel": lambda stream, x: stream.launch_kernel(doubles, (x,)),
    "operator": lambda stream, x: stream.launch_kernel("add", (x, x, x)),
    "callback": lambda stream, x: stream.callback(doubles, VIEWS[0]),
    "copy": lambda stream, x: (runtime.memcpy_d2d(y := runtime.empty(8), x, stream),
                               stream.launch_kernel(lambda a, b: np.add(a, b, out=b), (y, x))),
    "graph": lambda stream, x: replay(stream, x),
}


def replay(stream, x):
    with stream.capture() as graph:
        stream.launch_kernel(doubles, (x,))
    graph.instantiate().launch(stream)


@pytest.mark.parametrize("pipelining", [False, True])
@pytest.mark.parametrize("how", SUBMISSIONS)
def test_streams_of_ones_own_come_after_earlier_calls(how, pipelining):
    if how == "operator" and not hasattr(runtime, "apply_operator"):
        pytest.skip("built without oneDNN")
    runtime.set_option("enableAsync", True)
    runtime.set_option("enablePipelining", pipelining)

    def body(stage):
        x = runtime.array(np.zeros(8, np.float32))
        VIEWS[:] = [x.host_view()]
        stream = runtime.Stream()
        runtime.launch_kernel(lambda values: values.fill(3), (x,), name="slow")
        SUBMISSIONS[how](stream, x)
        before = stream.counters.submitted
        SUBMISSIONS[how](stream, x)
        added = stream.counters.submitted - before
        assert added == {"copy": 2}.get(how, 1), "one wait is enough"
        stream.synchronize()
        assert x.numpy().tolist() == [12] * 8
        VIEWS.clear()

    # By virtual time, so that it is no luck.
    testing.simulate(body, costs={"slow": 10**9}, options=SMALL).expect_end()


def test_memory_kept_for_reuse_is_told_and_given_back(rt):
    runtime.set_option("enableMemoryReuse", True)
    context = runtime.Device(0).context
    x, y = runtime.empty(1 << 20, np.uint8), runtime.empty(1 << 20, np.uint8)
    del y
    for figures in (context.memory(), runtime.get_device_memory_info(0)):
        assert figures.in_use >= 1 << 20 and figures.cached >= 1 << 20
        assert figures.used == figures.in_use + figures.cached + figures.quarantined
    del x
    context.trim(1 << 40)
    assert context.memory().cached >= 2 << 20
    context.trim()
    figures = context.memory()
    assert (figures.used, figures.cached, figures.in_use) == (0, 0, 0)
    assert runtime.zeros(4).numpy().sum() == 0
