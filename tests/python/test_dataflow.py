"""Work whose order is found from what it reads and writes."""

import threading

import numpy as np
import pytest

import runtime
from runtime import testing

pytestmark = pytest.mark.skipif(not hasattr(runtime, "Dataflow"), reason="built without oneDNN")


def increase(before, values):
    values += 1


def test_operators_and_functions_in_the_order_of_what_they_touch(rt):
    a = runtime.array(np.float32([[1, 2], [3, 4]]))
    out = runtime.empty((2, 2))
    with runtime.Dataflow() as flow:
        product = flow.apply("matmul", (a, a))
        flow.submit("relu", product, out)
        for _ in range(10):
            flow.submit(increase, out, out)
        flow.wait(out)
        assert out.numpy().tolist() == [[17, 20], [25, 32]]
        flow.submit("concat", (a, out), (runtime.empty((4, 2)),), {"axis": 0})
    counts = flow.counters()
    assert (counts.submitted, counts.concluded, counts.failed) == (13, 13, 0)
    assert "0 of 13" in repr(flow) and "submitted=13" in repr(counts)


def test_independent_nodes_run_at_once(rt):
    met = threading.Barrier(2)
    with runtime.Dataflow(streams=2) as flow:
        for _ in range(2):
            flow.submit(lambda values: met.wait(60), (), runtime.empty(4), name="meets the others")
        flow.wait_all()


def test_inputs_cannot_be_changed(rt):
    x = runtime.zeros(4)
    flow = runtime.Dataflow()
    flow.submit(lambda values: values.fill(1), x, ())
    with pytest.raises(runtime.KernelFailed, match="read-only"):
        flow.wait_all()
    with pytest.raises(runtime.InvalidArgument, match="read-only"):
        flow.submit(increase, x, x.read_only())
    assert not x.numpy().any()


def test_what_read_a_failure_is_skipped_and_tells_the_first_cause(rt):
    a, b, c = runtime.zeros(4), runtime.zeros(4), runtime.zeros(4)
    flow = runtime.Dataflow()
    ran = []

    def fail(values):
        raise KeyError("mine")

    flow.submit(fail, (), a)
    flow.submit(lambda x, y: ran.append(1), a, b)
    flow.submit(lambda y: ran.append(2), (), c)
    for _ in range(2):
        with pytest.raises(runtime.Error) as caught:
            flow.wait(b)
        assert "mine" in str(caught.value) + str(caught.value.cause)
    flow.wait(c)
    flow.submit(lambda values: values.fill(7), (), a)  # makes it good
    flow.wait(a)
    with pytest.raises(runtime.Error):
        flow.wait_all()
    flow.wait_all()
    counts = flow.counters()
    assert ran == [2] and (counts.failed, counts.skipped) == (1, 1)
    assert a.numpy().tolist() == [7] * 4


@pytest.mark.parametrize("reuse", [False, True])
def test_comes_after_calls_without_a_stream(reuse):
    runtime.set_option("enableAsync", True)
    runtime.set_option("enableMemoryReuse", reuse)

    def body(stage):
        x = runtime.zeros(1000)
        with runtime.Dataflow() as flow:
            runtime.launch_kernel(lambda values: values.fill(3), (x,), name="slow")
            flow.submit(lambda before, values: np.multiply(values, 2, out=values), x, x)
            flow.wait(x)
        assert x.numpy().tolist() == [6] * 1000

    # By virtual time, so that it is no luck.
    testing.simulate(body, costs={"slow": 10**9}).expect_end()


def test_after_an_event(rt):
    signal, order = runtime.Signal(), []
    with runtime.Stream() as stream, runtime.Dataflow() as flow:
        stream.wait(signal)
        stream.launch_kernel(lambda: order.append("stream"))
        flow.after(stream.record())
        flow.submit(lambda values: order.append("flow"), (), runtime.empty(1))
        signal.set()
        flow.wait_all()
    assert order == ["stream", "flow"]


def test_arrays_may_go_while_their_nodes_are_under_way(rt):
    go = threading.Event()
    flow = runtime.Dataflow()
    result = runtime.zeros(1000, np.int32)
    x = runtime.zeros(1000, np.int32)
    flow.submit(lambda values: go.wait(60), (), x)
    for _ in range(20):
        following = runtime.empty(1000, np.int32)
        flow.submit(lambda before, values: np.add(before, 1, out=values), x, following)
        x = following
    flow.submit(lambda before, values: np.copyto(values, before), x, result)
    del x, following
    others = [runtime.full(1000, -1, np.int32) for _ in range(20)]
    go.set()
    flow.wait(result)
    assert (result.numpy() == 20).all() and all((each.numpy() == -1).all() for each in others)


def test_threads_share_one(rt):
    x = runtime.zeros(1, np.int64)
    flow = runtime.Dataflow(window=8)

    def work():
        for _ in range(100):
            flow.submit(increase, x, x)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    flow.wait_all()
    assert x.numpy().tolist() == [400]


def test_mistakes_are_named(rt):
    x, far = runtime.zeros(4), runtime.zeros(4, device=1)
    flow = runtime.Dataflow()
    for call, kind, words in (
            (lambda: runtime.Dataflow(streams=65), runtime.InvalidArgument, "streams is 65; 1 to 64"),
            (lambda: runtime.Dataflow(window=0), runtime.InvalidArgument, "window is 0"),
            (lambda: flow.submit(3, x, x), TypeError, "work is an operator's name or a function"),
            (lambda: flow.submit("relu", 3, x), TypeError, "inputs is DeviceArrays, not 3"),
            (lambda: flow.submit("relu", x, (x, 3)), TypeError, "outputs is DeviceArrays, not 3"),
            (lambda: flow.submit("relu", x, far), runtime.InvalidArgument, "context"),
            (lambda: flow.submit("nothing", x, x), runtime.Error, "nothing"),
            (lambda: flow.submit(print, x, x, {"axis": 1}), runtime.InvalidArgument, "attributes"),
            (lambda: flow.submit(print, x, x, name=3), TypeError, "name is a str"),
            (lambda: flow.wait(3), TypeError, "array is a DeviceArray"),
            (lambda: flow.wait(x, 0), runtime.InvalidArgument, "timeout is 0"),
            (lambda: flow.after(x), TypeError, "event is an Event")):
        with pytest.raises(kind) as caught:
            call()
        assert words in str(caught.value)
    assert flow.counters().submitted == 0


def test_a_wait_has_a_limit(rt):
    go = threading.Event()
    x = runtime.zeros(4)
    flow = runtime.Dataflow(window=1)
    flow.submit(lambda values: go.wait(60), (), x)
    for wait in (lambda: flow.wait(x, 0.001), lambda: flow.wait_all(0.001)):
        with pytest.raises(TimeoutError):
            wait()
    go.set()
    flow.wait_all()


def test_in_every_order_of_events():
    def body(stage):
        with runtime.Dataflow(streams=2) as flow:
            a, b, c = (runtime.zeros(4, np.int32) for _ in range(3))
            flow.submit(lambda v: v.fill(1), (), a)
            flow.submit(lambda v: v.fill(2), (), b)
            flow.submit(lambda x, y, v: np.add(x, y, out=v), (a, b), c)
            flow.submit(lambda v: v.fill(9), (), a)
            flow.wait(c)
            stage.observe("sum", c.numpy())

    found = testing.explore(body, runs=30)
    assert found.failure is None, str(found)
