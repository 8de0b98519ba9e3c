"""Streams, events, signals and callbacks."""

import threading

import numpy as np
import pytest

import runtime


def test_kernel_sees_the_device_memory_as_numpy_arrays(rt):
    x = runtime.array(np.arange(6, dtype=np.int32).reshape(2, 3))
    seen = []

    def look(values, text):
        seen.append((type(values), values.shape, values.dtype, text))
        values += 1

    with runtime.Stream() as stream:
        stream.launch_kernel(look, (x, "text"))
    assert seen == [(np.ndarray, (2, 3), np.dtype("int32"), "text")]
    assert x.numpy().tolist() == [[1, 2, 3], [4, 5, 6]]


def test_each_block_is_run_once_and_knows_which_it_is(rt):
    x = runtime.zeros(8, np.int64)

    def kernel(block, values):
        values[block.index] += block.index + 10 * block.count

    with runtime.Stream() as stream:
        stream.launch_kernel(kernel, x, blocks=8)
    assert x.numpy().tolist() == [80 + i for i in range(8)]


def test_read_only_arrays_cannot_be_written_by_kernels(rt):
    x = runtime.zeros(4)
    stream = runtime.Stream()
    stream.launch_kernel(lambda values: values.fill(1), x.read_only())
    with pytest.raises(runtime.KernelFailed) as caught:
        stream.synchronize()
    assert isinstance(caught.value.__cause__, ValueError)
    assert not x.numpy().any()


def test_work_of_a_stream_runs_in_order_and_streams_wait_by_events(rt):
    order = []
    first, second = runtime.Stream(), runtime.Stream()
    signal = runtime.Signal()
    first.wait(signal)
    first.launch_kernel(order.append, (1,))
    done = first.record()
    second.wait(done)
    second.launch_kernel(order.append, (2,))
    assert not second.query() and not done.query() and order == []
    signal.set()
    second.synchronize()
    assert order == [1, 2] and done.query() and signal.is_set()


def test_a_kernel_that_raises_fails_its_task_and_the_stream_goes_on(rt):
    stream = runtime.Stream()
    ran = []

    def fails():
        raise ZeroDivisionError("by zero")

    stream.launch_kernel(fails)
    stream.launch_kernel(ran.append, (1,))
    with pytest.raises(runtime.KernelFailed) as caught:
        stream.synchronize()
    error = caught.value
    assert error.code == 507015 and error.name == "kernel_exception"
    assert "ZeroDivisionError: by zero" in str(error) and "'fails'" in str(error)
    assert error.origin["stream"] == stream.id and error.origin["task_name"] == "fails"
    assert error.origin["task_number"] == 1 and error.origin["device"] == 0
    assert isinstance(error.__cause__, ZeroDivisionError) and error.cause is error.__cause__
    assert error.cause.__traceback__.tb_frame.f_code.co_name == "fails"
    assert ran == [1]
    stream.synchronize()


def test_names_of_registered_kernels(rt):
    runtime.register_kernel("test.double", lambda values: np.multiply(values, 2, out=values))
    try:
        x = runtime.array([1.0, 2.0])
        stream = runtime.Stream()
        stream.launch_kernel("test.double", (x,))
        stream.synchronize()
        assert x.numpy().tolist() == [2, 4]
        with pytest.raises(runtime.Error) as caught:
            runtime.register_kernel("test.double", print)
        assert caught.value.code == 507028
    finally:
        runtime.unregister_kernel("test.double")
    with pytest.raises(runtime.Error) as caught:
        stream.launch_kernel("test.double", (x,))
    assert caught.value.code == 507027


def test_callbacks_run_in_order_on_a_thread_of_the_host(rt):
    seen = []
    stream = runtime.Stream()
    stream.launch_kernel(seen.append, ("kernel",))
    stream.callback(lambda text: seen.append((text, threading.get_ident())), "callback")
    stream.synchronize()
    assert seen[0] == "kernel" and seen[1][0] == "callback"
    assert seen[1][1] != threading.get_ident()


def test_calls_that_wait_are_refused_in_kernels(rt):
    stream = runtime.Stream()
    stream.launch_kernel(lambda: runtime.device_malloc(0, 16))
    with pytest.raises(runtime.KernelFailed) as caught:
        stream.synchronize()
    assert "207000" in str(caught.value)


def test_a_wait_with_a_timeout_ends_and_the_work_goes_on(rt):
    stream = runtime.Stream()
    signal = runtime.Signal()
    stream.wait(signal)
    event = stream.record()
    with pytest.raises(runtime.Timeout) as caught:
        stream.synchronize(timeout=0.02)
    assert caught.value.code == 507046 and isinstance(caught.value, TimeoutError)
    with pytest.raises(runtime.Timeout):
        event.synchronize(timeout=0.02)
    signal.set()
    stream.synchronize(timeout=60)
    event.synchronize(timeout=60)


def test_a_device_side_wait_has_a_timeout_too(rt):
    stream = runtime.Stream()
    stream.wait(runtime.Signal(), timeout=0.01)
    with pytest.raises(runtime.Timeout) as caught:
        stream.synchronize()
    assert caught.value.code == 107020


def test_abort_drops_the_work_and_tells_who_waits(rt):
    stream = runtime.Stream()
    ran, codes = [], []
    stream.wait(runtime.Signal())
    stream.launch_kernel(ran.append, (1,))

    def wait():
        while not codes:  # between an abort and the next wait the stream is idle
            try:
                stream.synchronize()
            except runtime.Aborted as error:
                codes.append(error.code)

    waiter = threading.Thread(target=wait)
    waiter.start()
    while not codes:
        stream.abort()
        stream.wait(runtime.Signal())
    waiter.join()
    assert codes == [107023] and ran == []
    stream.destroy(force=True)


def test_an_endless_python_kernel_is_stopped_by_an_abort(rt):
    begun = threading.Event()
    stopped = []

    def endless():
        begun.set()
        try:
            while True:
                pass
        except runtime.Stopped:
            stopped.append(True)
            raise

    stream = runtime.Stream()
    stream.launch_kernel(endless)
    begun.wait()
    stream.abort()
    other = runtime.Stream()
    other.launch_kernel(lambda: None)
    other.synchronize()
    while not stopped:
        other.launch_kernel(lambda: None)
        other.synchronize()
    stream.destroy(force=True)


def test_priorities_and_their_limits(rt):
    assert runtime.Stream(priority=0).priority == 0
    assert runtime.Stream().priority == 4
    for bad in (-1, 8, 2**70):
        with pytest.raises(runtime.InvalidArgument):
            runtime.Stream(priority=bad)


def test_higher_priorities_get_the_engine_first():
    with runtime.init(devices=1, compute_threads=1):
        order = []
        begun, gate = threading.Event(), threading.Event()
        blocker = runtime.Stream()
        blocker.launch_kernel(lambda: (begun.set(), gate.wait()))
        begun.wait()
        low, high = runtime.Stream(priority=7), runtime.Stream(priority=0)
        low.launch_kernel(order.append, ("low",))
        high.launch_kernel(order.append, ("high",))
        gate.set()
        runtime.stream_synchronize()
        assert order == ["high", "low"]


def test_destroyed_things_say_so(rt):
    stream, event = runtime.Stream(), runtime.Event()
    stream.destroy()
    event.destroy()
    for call in (stream.synchronize, stream.query, stream.destroy, stream.record,
                 lambda: stream.launch_kernel(print), event.query, event.destroy):
        with pytest.raises(runtime.InvalidHandle) as caught:
            call()
        assert caught.value.code == 107017
    assert "destroyed" in repr(stream) and "destroyed" in repr(event)


def test_with_blocks_destroy_and_drop_the_work_after_an_exception(rt):
    ran = []
    with pytest.raises(KeyError):
        with runtime.Stream() as stream:
            stream.wait(runtime.Signal())
            stream.launch_kernel(ran.append, (1,))
            raise KeyError
    assert "destroyed" in repr(stream) and ran == []
    with runtime.Event() as event:
        event.record()
    assert "destroyed" in repr(event)


def test_destroy_waits_and_raises_a_failure_nobody_was_told_of(rt):
    def fails():
        raise OSError("lost")

    stream = runtime.Stream()
    stream.launch_kernel(fails)
    with pytest.raises(runtime.KernelFailed):
        stream.destroy()
    assert "destroyed" in repr(stream)


def test_events_move_between_devices(rt):
    event = runtime.Event()
    for device in (0, 1, 0):
        stream = runtime.Stream(device)
        event.record(stream)
        stream.synchronize()
        event.synchronize()
        assert event.query()


def test_elapsed_time_wants_records_that_were_reached(rt):
    start, end = runtime.Event(), runtime.Event()
    with pytest.raises(runtime.Error):
        start.elapsed_time(end)
    stream = runtime.Stream()
    signal = runtime.Signal()
    start.record(stream)
    stream.wait(signal)
    end.record(stream)
    with pytest.raises(runtime.Error) as caught:
        start.elapsed_time(end)
    assert caught.value.code == 107006
    signal.set()
    stream.synchronize()
    assert start.elapsed_time(end) > 0
    with pytest.raises(runtime.Error) as caught:
        end.elapsed_time(start)
    assert caught.value.code == 107007


def test_counters_tell_what_was_done(rt):
    stream = runtime.Stream()
    before = runtime.Device(0).counters().compute.commands
    for _ in range(10):
        stream.launch_kernel(lambda: None)
    stream.synchronize()
    assert stream.counters.submitted == stream.counters.completed == 10
    assert runtime.Device(0).counters().compute.commands == before + 10
    assert "commands=" in repr(runtime.Device(0).counters().compute)


def test_stop_on_failure_ends_the_context(rt):
    with runtime.Context() as context:
        stream = runtime.Stream(context)
        stream.stop_on_failure()
        stream.launch_kernel(lambda: 1 / 0)
        for _ in range(2):
            with pytest.raises(runtime.KernelFailed):
                stream.synchronize()
    with runtime.Stream() as other:
        other.launch_kernel(lambda: None)


def test_the_end_of_a_kept_array_may_wait_for_streams(rt):
    """Each end runs in the midst of letting go, and begins another."""
    other, held, x = runtime.Stream(), runtime.Signal(), runtime.zeros(3, np.float32)
    ends = []

    class Waiting(np.ndarray):
        def __del__(self):
            other.synchronize()
            ends.append(1)

    for _ in range(50):
        stream = runtime.Stream()
        stream.wait(held)
        runtime.memcpy_host_to_device(x, np.zeros(3, np.float32).view(Waiting), stream)
        del stream
    held.set()
    while len(ends) < 50:
        other.synchronize()
