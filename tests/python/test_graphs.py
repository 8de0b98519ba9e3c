"""Graphs: capture as a with block, and replay."""

import gc

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
