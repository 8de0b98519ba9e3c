"""Graphs: capture as a with block, and replay."""

import gc
import threading
import weakref

import numpy as np
import pytest

import runtime


def increase(values):
    values += 1


def test_what_a_stream_is_given_becomes_a_graph_and_does_not_run(rt):
    x = runtime.zeros(4, np.int32)
    stream = runtime.Stream()
    with stream.capture() as graph:
        assert "captured" in repr(graph)
        stream.launch_kernel(increase, (x,))
        stream.launch_kernel(increase, (x,))
    assert graph.node_count == 2 and graph.edge_count == 1 and "increase" in graph.to_dot()
    assert "increase" in graph.to_json() and not x.numpy().any()
    run = graph.instantiate()
    for _ in range(10):
        run.launch(stream)
    stream.synchronize()
    assert run.replays == 10 and x.numpy().tolist() == [20] * 4
    run.destroy()
    with pytest.raises(runtime.InvalidHandle):
        run.launch(stream)


def test_copies_are_replayed_from_and_to_their_arrays(rt):
    x = runtime.zeros(4, np.int32)
    source, target = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    stream = runtime.Stream()
    with stream.capture() as graph:
        x.copy_from(source, stream)
        stream.launch_kernel(increase, (x,))
        x.copy_to(target, stream)
    run = graph.instantiate()
    run.launch(stream)
    stream.synchronize()
    assert target.tolist() == [1, 2, 3, 4]
    source[:] = 10
    run.launch(stream)
    stream.synchronize()
    assert target.tolist() == [11] * 4


def test_a_graph_keeps_what_its_work_needs(rt):
    def make(stream):
        x = runtime.zeros(4, np.int32)
        result = np.zeros(4, np.int32)
        with stream.capture() as graph:
            x.copy_from(np.full(4, 7, np.int32), stream)
            stream.launch_kernel(increase, (x,))
            x.copy_to(result, stream)
        return graph.instantiate(), result

    stream = runtime.Stream()
    run, result = make(stream)
    gc.collect()
    others = [runtime.array(np.full(4, 55, np.int32)) for _ in range(20)]
    run.launch(stream)
    stream.synchronize()
    assert result.tolist() == [8] * 4
    assert all((each.numpy() == 55).all() for each in others)


def test_other_streams_are_drawn_in_by_events_and_joined(rt):
    x, y = runtime.zeros(4, np.int32), runtime.zeros(4, np.int32)
    first, second = runtime.Stream(), runtime.Stream()
    with first.capture() as graph:
        second.wait(first.record())
        first.launch_kernel(increase, (x,))
        second.launch_kernel(increase, (y,))
        first.wait(second.record())
    run = graph.instantiate()
    run.launch(first)
    first.synchronize()
    assert x.numpy().tolist() == y.numpy().tolist() == [1] * 4


def test_a_stream_that_is_not_joined_is_named(rt):
    first, second = runtime.Stream(), runtime.Stream()
    with pytest.raises(runtime.Error) as caught:
        with first.capture() as graph:
            second.wait(first.record())
            second.launch_kernel(print)
    assert caught.value.code == 107025 and str(second.id) in str(caught.value)
    with pytest.raises(runtime.InvalidArgument):
        graph.instantiate()
    first.synchronize()
    second.synchronize()


def test_an_exception_ends_the_capture(rt):
    stream = runtime.Stream()
    with pytest.raises(KeyError):
        with stream.capture():
            stream.launch_kernel(print)
            raise KeyError
    stream.launch_kernel(lambda: None)
    stream.synchronize()


def test_what_a_capture_refuses(rt):
    stream = runtime.Stream()
    x = runtime.zeros(4)
    with stream.capture("relaxed"):
        with pytest.raises(runtime.Error) as caught:
            stream.synchronize()
        assert caught.value.code == 107027
        with pytest.raises(runtime.Error):
            stream.capture().__enter__()
    with pytest.raises(runtime.InvalidArgument):
        stream.capture("some other way")
    assert x.numpy().tolist() == [0] * 4


def test_a_failing_node_fails_the_replay(rt):
    stream = runtime.Stream()
    with stream.capture() as graph:
        stream.launch_kernel(lambda: 1 / 0, name="divide")
    run = graph.instantiate()
    run.launch(stream)
    with pytest.raises(runtime.KernelFailed) as caught:
        stream.synchronize()
    assert "divide" in str(caught.value)


def test_instances_of_one_graph_are_independent(rt):
    x = runtime.zeros(1, np.int32)
    stream = runtime.Stream()
    with stream.capture() as graph:
        stream.launch_kernel(increase, (x,))
    runs = [graph.instantiate() for _ in range(3)]
    del graph
    for run in runs:
        run.launch(stream)
    stream.synchronize()
    assert x.numpy().tolist() == [3]


def test_a_refused_destroy_leaves_the_stream_as_it_was(rt):
    stream = runtime.Stream()
    for force in (False, True):
        with stream.capture():
            with pytest.raises(runtime.Error) as caught:
                stream.destroy(force)
            assert caught.value.code == 107027 and "destroyed" not in repr(stream)
    stream.launch_kernel(lambda: None)
    stream.destroy()
    assert "destroyed" in repr(stream)


def test_an_abandoned_capture_ends(rt):
    stream = runtime.Stream()
    capture = stream.capture()
    capture.__enter__()
    stream.launch_kernel(print)
    assert "going on" in repr(capture)
    del capture
    ran = []
    stream.launch_kernel(lambda: ran.append(1))
    stream.synchronize()
    assert ran == [1]
    with stream.capture() as graph:
        stream.launch_kernel(print)
    assert graph.node_count == 1


def test_a_capture_is_for_one_block(rt):
    stream = runtime.Stream()
    first, second = stream.capture(), stream.capture()
    assert "not begun" in repr(first)
    with pytest.raises(runtime.Error) as caught:
        first.__exit__(None, None, None)
    assert caught.value.code == 107029
    with first as graph:
        with pytest.raises(runtime.Error):
            second.__exit__(None, None, None)  # not the end of the other's
        stream.launch_kernel(print)
    assert graph.node_count == 1 and "ended" in repr(first)
    for again in (first.__enter__, lambda: first.__exit__(None, None, None)):
        with pytest.raises(runtime.Error):
            again()


def test_an_end_on_another_thread_is_refused_and_the_capture_goes_on(rt):
    stream = runtime.Stream()
    capture = stream.capture()
    graph = capture.__enter__()
    codes = []

    def end():
        try:
            capture.__exit__(None, None, None)
        except runtime.Error as e:
            codes.append(e.code)

    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    x = runtime.empty(4, np.int32)
    stream.launch_kernel(lambda values: values.fill(7), (x,))
    capture.__exit__(None, None, None)
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert codes == [107038] and x.numpy().tolist() == [7] * 4


class Job:
    """A cycle: the graph keeps a kernel that keeps the graph."""

    def __init__(self, stream, executable):
        self.ran = 0
        with stream.capture() as self.graph:
            stream.launch_kernel(self.work)
            stream.callback(self.work)
        if executable:
            self.graph = self.graph.instantiate()
            self.graph.launch(stream)

    def work(self):
        self.ran += 1


@pytest.mark.parametrize("executable", [False, True])
def test_cycles_through_graphs_are_collected(rt, executable):
    stream = runtime.Stream()
    seen = []
    for _ in range(5):
        job = Job(stream, executable)
        stream.synchronize()
        assert job.ran == (2 if executable else 0)
        seen.append(weakref.ref(job))
    del job
    stream.synchronize()
    gc.collect()
    assert [each() for each in seen] == [None] * 5


def test_a_graph_keeps_its_kernels_while_a_replay_runs(rt):
    stream = runtime.Stream()
    go, done = threading.Event(), []

    def make():
        class Kernel:
            def __call__(self):
                go.wait()
                done.append(self)

        with stream.capture() as graph:
            for _ in range(10):
                stream.launch_kernel(Kernel(), name="kernel")
        return graph.instantiate()

    make().launch(stream)
    gc.collect()
    go.set()
    stream.synchronize()
    assert len(done) == 10
