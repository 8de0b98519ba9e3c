"""Devices, the current device of a thread, contexts, and the runtime itself."""

import pickle
import threading

import pytest

import runtime


def test_calls_without_a_runtime_say_what_to_do():
    for call in (runtime.get_device_count, lambda: runtime.Device(0), runtime.Stream, runtime.get_device,
                 lambda: runtime.device_malloc(0, 4), runtime.get_available_devices,
                 runtime.stream_synchronize):
        with pytest.raises(runtime.NotInitialized) as caught:
            call()
        assert caught.value.code == 100001
    runtime.shutdown()


def test_init_takes_the_options_of_the_runtime():
    with runtime.init(devices=3, compute_threads=2) as session:
        assert runtime.get_device_count() == 3
        assert runtime.init() is session
        with pytest.raises(runtime.Error) as caught:
            runtime.init(devices=1)
        assert caught.value.code == 100002
    assert not session.is_open and not runtime.is_initialized()
    profile = {"name": "Small", "memory_bytes": 1 << 24, "clock_khz": 500000, "count": 2}
    with runtime.init(devices=[profile]):
        props = runtime.get_device_properties(1)
        assert (props.name, props.total_memory, props.clock_rate) == ("Small", 1 << 24, 500000)
    for bad in ({"no_such_option": 1}, {"devices": 0}, {"queue_depth": "deep"}, {"spin_us": -1}):
        with pytest.raises(runtime.InvalidArgument):
            runtime.init(**bad)
    assert not runtime.is_initialized()


def test_the_runtime_can_be_made_again_and_again():
    for _ in range(20):
        runtime.init(devices=1)
        x = runtime.zeros(16)
        assert not x.numpy().any()
        runtime.shutdown()
        runtime.shutdown()


def test_objects_of_an_ended_runtime_say_so():
    runtime.init(devices=1)
    stream, event, x = runtime.Stream(), runtime.Event(), runtime.zeros(4)
    device, context, session = runtime.Device(0), runtime.Device(0).context, runtime.init()
    event.record(stream)
    runtime.shutdown()
    for call in (stream.synchronize, lambda: stream.launch_kernel(print), x.numpy,
                 device.get_properties, device.counters, context.synchronize,
                 lambda: event.record(stream), lambda: runtime.Stream(device)):
        with pytest.raises(runtime.Error) as caught:
            call()
        assert caught.value.code in (100001, 507007, 107017)
    assert "shut down" in repr(session)
    for thing in (stream, event, x, device, context):
        try:
            repr(thing)
        except runtime.NotInitialized:
            assert thing is device


def test_devices_are_like_their_index(rt):
    device = runtime.Device(1)
    assert device == 1 and device != 0 and device == runtime.Device(1) and device != "1"
    assert hash(device) == hash(1) and int(device) == 1 and [10, 20][device] == 20
    assert runtime.get_available_devices() == [0, 1]
    assert device.health in ("unused", "usable") and "Ascend 910" in repr(device)
    assert runtime.least_loaded() in (0, 1)
    for bad in (2, -1, 2**80):
        with pytest.raises(runtime.InvalidArgument):
            runtime.Device(bad)
    for bad in ("0", 0.0, [0]):
        for call in (runtime.Device, runtime.set_device, runtime.get_device_properties):
            with pytest.raises(TypeError):
                call(bad)


def test_each_thread_has_its_own_current_device(rt):
    runtime.set_device(1)
    seen = {}

    def look():
        seen["at first"] = int(runtime.get_device())
        runtime.set_device(runtime.Device(0))
        seen["stream"] = runtime.Stream().context.device_index

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == {"at first": 0, "stream": 0}
    assert runtime.get_device() == 1 and runtime.zeros(1).device_index == 1
    with pytest.raises(runtime.InvalidArgument):
        runtime.set_device(2)
    assert runtime.get_device() == 1
    runtime.set_device(0)


def test_many_threads_use_one_device(rt):
    failed = []

    def work(number):
        try:
            x = runtime.array([float(number)] * 64)
            with runtime.Stream() as stream:
                for _ in range(20):
                    stream.launch_kernel(lambda values: values.__iadd__(1), (x,))
                stream.synchronize()
            assert x.numpy().tolist() == [number + 20.0] * 64
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == []


def test_contexts_are_isolated(rt):
    with runtime.Context(1) as first, runtime.Context(1) as second:
        assert first.id != second.id and first.device_index == 1
        stream = runtime.Stream(first)
        stream.launch_kernel(lambda: 1 / 0)
        with pytest.raises(runtime.KernelFailed):
            first.synchronize()
        second.synchronize()
        x = runtime.zeros(1024, device=first)
        assert first.memory().used >= 4096 and second.memory().used == 0
    with pytest.raises(runtime.Error):
        x.numpy()


def test_reset_gives_a_device_back_its_first_state(rt):
    device = runtime.Device(0)
    stream, x = runtime.Stream(device), runtime.zeros(4, device=device)
    device.reset()
    for call in (stream.synchronize, x.numpy):
        with pytest.raises(runtime.Error):
            call()
    assert runtime.zeros(4, device=device).numpy().tolist() == [0] * 4


def test_device_abort_drops_all_work(rt):
    stream = runtime.Stream()
    stream.wait(runtime.Signal())
    runtime.Device(0).abort()
    stream.synchronize()
    assert stream.counters.dropped == 1


def test_figures(rt):
    info = runtime.get_device_memory_info(0)
    assert info.total == info.used + info.free == 80 << 30
    compute = runtime.get_device_compute_info(runtime.Device(0))
    assert compute.fpeak == 256e12 and compute.cores == 32 and 0 <= compute.utilisation <= 1
    for thing in (info, compute, runtime.Device(0).counters(), runtime.get_device_properties(0)):
        assert repr(thing).startswith("<runtime.")


def test_errors_tell_and_can_be_pickled(rt):
    with pytest.raises(runtime.Error) as caught:
        runtime.Device(7)
    error = caught.value
    assert error.code == 107001 and error.name == "invalid_device" and "7" in error.message
    assert "107001" in str(error) and "107001" in repr(error)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and again.code == error.code and str(again) == str(error)


def test_diagnostics_name_mistakes(rt):
    stream = runtime.Stream()
    event = runtime.Event()
    event.record(stream)
    event.record(stream)
    assert all(isinstance(each, str) for each in runtime.diagnostics())
