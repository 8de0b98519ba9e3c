"""Device memory, copies in and out of numpy, buffers and DLPack."""

import array
import gc
import weakref

import numpy as np
import pytest

import runtime


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "uint64", "bool",
                                   "complex64", np.dtype([("a", "i4"), ("b", "f8")])])
def test_contents_come_back_as_they_went(rt, dtype):
    host = np.frombuffer(np.random.default_rng(1).bytes(12 * np.dtype(dtype).itemsize), dtype)
    if dtype == "bool":
        host = np.arange(12) % 3 == 0
    x = runtime.array(host.reshape(3, 4))
    assert x.shape == (3, 4) and x.dtype == host.dtype and x.nbytes == host.nbytes
    assert x.numpy().tobytes() == host.tobytes()


def test_shapes_views_and_parts_share_memory(rt):
    x = runtime.array(np.arange(24, dtype=np.float32))
    y = x.reshape(2, -1, 4)
    assert y.shape == (2, 3, 4) and len(y) == 2 and y.ndim == 3 and y.size == 24
    assert y[1].shape == (3, 4) and y[-1].numpy().ravel()[0] == 12
    assert y[1][2].numpy().tolist() == [20, 21, 22, 23]
    assert y[0:1].shape == (1, 3, 4) and x[4:6].numpy().tolist() == [4, 5]
    y[0].fill_bytes(0)
    assert x.numpy().tolist() == [0] * 12 + list(range(12, 24))
    assert x.view(np.uint8).shape == (96,) and x.view("f8").shape == (12,)
    assert x.reshape((4, 6)).shape == (4, 6)
    for bad in (lambda: x.reshape(5, 5), lambda: x.reshape(-1, -1), lambda: x[::2],
                lambda: x[0:3].view("f8"), lambda: x.reshape(-2)):
        with pytest.raises(runtime.InvalidArgument):
            bad()
    with pytest.raises(IndexError):
        x[24]


def test_empty_and_scalar_arrays(rt):
    assert runtime.zeros((0, 3)).numpy().shape == (0, 3)
    scalar = runtime.array(np.float32(3))
    assert scalar.shape == () and float(scalar.numpy()) == 3
    assert runtime.array([[1, 2], [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]


def test_the_host_side_says_how_much_is_copied(rt):
    x = runtime.zeros(8, np.uint8)
    runtime.memcpy_host_to_device(x, b"abc")
    part = np.zeros(5, np.uint8)
    runtime.memcpy_device_to_host(part, x)
    assert part.tobytes() == b"abc\0\0"
    with pytest.raises(runtime.InvalidArgument) as caught:
        runtime.memcpy_host_to_device(x, b"123456789")
    assert "9 bytes" in str(caught.value) and "8 bytes" in str(caught.value)
    with pytest.raises(runtime.InvalidArgument):
        runtime.memcpy_device_to_host(np.zeros(9, np.uint8), x)
    with pytest.raises(runtime.InvalidArgument):
        runtime.memcpy_d2d(x, runtime.zeros(9, np.uint8))


def test_what_cannot_take_part_in_a_copy_is_refused(rt):
    x = runtime.zeros(8, np.uint8)
    frozen = np.zeros(8, np.uint8)
    frozen.setflags(write=False)
    for bad in (frozen, np.zeros(16, np.uint8)[::2], b"12345678"):
        with pytest.raises(runtime.InvalidArgument):
            runtime.memcpy_device_to_host(bad, x)
    for bad in (None, 3, "text", [1, 2]):
        with pytest.raises(TypeError):
            runtime.memcpy_host_to_device(x, bad)
    with pytest.raises(runtime.InvalidArgument):
        runtime.memcpy_host_to_device(x, np.array([object()]))
    with pytest.raises(runtime.InvalidArgument):
        runtime.memcpy_host_to_device(x.read_only(), b"1")


def test_sources_that_are_not_contiguous_are_made_so(rt):
    host = np.arange(12, dtype=np.int32).reshape(3, 4)
    x = runtime.empty((4, 3), np.int32)
    runtime.memcpy_host_to_device(x, host.T)
    assert np.array_equal(x.numpy(), host.T)


def test_a_copy_on_a_stream_keeps_the_array_alive_and_reads_it_when_it_runs(rt):
    x = runtime.zeros(1024, np.uint8)
    stream, signal = runtime.Stream(), runtime.Signal()
    stream.wait(signal)
    host = np.ones(1024, np.uint8)
    gone = weakref.ref(host)
    runtime.memcpy_host_to_device(x, host, stream)
    host[:] = 2
    del host
    gc.collect()
    assert gone() is not None and stream.kept == 1
    signal.set()
    stream.synchronize()
    assert stream.kept == 0 and gone() is None
    assert x.numpy().tolist() == [2] * 1024


def test_a_stream_that_is_let_go_keeps_its_arrays_until_the_copy_has_ended(rt):
    x = runtime.array(np.full(1024, 7, np.uint8))
    stream, signal = runtime.Stream(), runtime.Signal()
    stream.wait(signal)
    host = np.zeros(1024, np.uint8)
    gone = weakref.ref(host)
    runtime.memcpy_device_to_host(host, x, stream)
    done = stream.record()
    del stream, host
    gc.collect()
    assert gone() is not None
    signal.set()
    done.synchronize()
    runtime.stream_synchronize()
    assert gone() is None


def test_a_copy_to_the_host_on_a_stream_is_there_after_a_synchronize(rt):
    x = runtime.array(np.arange(100))
    host = np.zeros(100, dtype=int)
    with runtime.Stream() as stream:
        x.copy_to(host, stream)
        stream.synchronize()
        assert host.tolist() == list(range(100))


def test_a_buffer_that_is_in_a_copy_cannot_shrink(rt):
    x = runtime.zeros(8, np.uint8)
    stream, signal = runtime.Stream(), runtime.Signal()
    stream.wait(signal)
    host = bytearray(b"12345678")
    runtime.memcpy_host_to_device(x, host, stream)
    with pytest.raises(BufferError):
        host.clear()
    signal.set()
    stream.synchronize()
    host.clear()


def test_copies_between_devices(rt):
    x = runtime.array(np.arange(10), device=0)
    y = runtime.empty(10, int, device=1)
    runtime.memcpy_d2d(y, x)
    assert y.device_index == 1 and y.numpy().tolist() == list(range(10))
    y.copy_from(runtime.zeros(10, int, 0))
    assert not y.numpy().any()


def test_numpy_functions_take_device_arrays_without_a_copy(rt):
    x = runtime.array(np.arange(4, dtype=np.float32))
    shared, copied = np.asarray(x), x.numpy()
    assert np.sum(x) == 6 and np.asarray(x, dtype=int).dtype == int
    x.fill_bytes(0)
    assert shared.sum() == 0 and copied.sum() == 6


def test_buffers_and_dlpack_show_the_memory_itself_and_keep_it(rt):
    x = runtime.array(np.arange(6, dtype=np.float32).reshape(2, 3))
    view = memoryview(x)
    assert view.shape == (2, 3) and view.format == "f" and not view.readonly
    shared = np.from_dlpack(x)
    assert x.__dlpack_device__() == (1, 0)
    np.asarray(view)[0, 0] = 9
    assert shared[0, 0] == 9 and x.numpy()[0, 0] == 9
    x.free()
    assert view[0, 0] == 9 and shared[1, 2] == 5
    fresh = runtime.zeros((2, 3))
    assert view[0, 0] == 9, "the memory was handed out again"
    assert memoryview(fresh.read_only()).readonly


def test_views_outlive_the_runtime_without_harm():
    with runtime.init(devices=1):
        x = runtime.array(np.arange(1000.0))
        view, shared = memoryview(x), np.from_dlpack(x)
        kept = []
        with runtime.Stream() as stream:
            stream.launch_kernel(kept.append, (x,))
    view[0] = 1
    kept[0][:] = 3
    assert view[0] == shared[5] == 3
    with pytest.raises(runtime.Error):
        x.numpy()


def test_a_view_that_a_kernel_kept_keeps_the_memory(rt):
    kept = []
    x = runtime.array(np.full(1024, 5, np.uint8))
    with runtime.Stream() as stream:
        stream.launch_kernel(kept.append, (x,))
    runtime.device_free(x)
    others = [runtime.zeros(1024, np.uint8) for _ in range(10)]
    assert kept[0].tolist() == [5] * 1024
    del others


def test_freed_arrays_say_so(rt):
    x = runtime.device_malloc(0, 64)
    part = x[8:]
    runtime.device_free(x)
    assert x.freed and "freed" in repr(x)
    assert not part.freed
    for call in (lambda: runtime.device_free(x), x.numpy, x.free, lambda: x[0],
                 lambda: x.fill_bytes(1), lambda: runtime.memcpy_host_to_device(x, b"1"),
                 lambda: memoryview(x), lambda: runtime.Stream().launch_kernel(print, (x,))):
        with pytest.raises(runtime.InvalidArgument):
            call()
    with runtime.zeros(4) as y:
        pass
    assert y.freed


def test_memory_goes_back_with_the_last_reference(rt):
    before = runtime.get_device_memory_info(0).used
    x = runtime.device_malloc(0, 1 << 20)
    assert runtime.get_device_memory_info(0).used >= before + (1 << 20)
    del x
    assert runtime.get_device_memory_info(0).used == before


def test_memory_in_use_may_be_freed(rt):
    stream, signal = runtime.Stream(), runtime.Signal()
    stream.wait(signal)
    x = runtime.array(np.arange(8))
    seen = []
    stream.launch_kernel(lambda values: seen.append(values.sum()), (x,))
    runtime.device_free(x)
    signal.set()
    stream.synchronize()
    assert seen == [28]


def test_shortage_is_a_memory_error_with_figures(rt):
    with pytest.raises(runtime.OutOfMemory) as caught:
        runtime.device_malloc(0, 1 << 45)
    assert isinstance(caught.value, MemoryError) and caught.value.code in (207001, 207018)
    with runtime.Context(memory_limit=1 << 20) as context:
        with pytest.raises(runtime.OutOfMemory) as caught:
            runtime.device_malloc(context, 1 << 21)
        assert caught.value.origin["lacking"]["limit"] == 1 << 20
        assert context.memory().limit == 1 << 20


def test_pinned_arrays_are_numpy_arrays(rt):
    host = runtime.pinned_empty((4, 4), np.float32)
    host[:] = 3
    x = runtime.empty((4, 4))
    with runtime.Stream() as stream:
        x.copy_from(host, stream)
        stream.synchronize()
    assert (x.numpy() == 3).all()
    runtime.shutdown()
    assert host.sum() == 48


def test_memory_of_another_context_is_refused_by_kernels(rt):
    x = runtime.zeros(4, device=1)
    with runtime.Context(0) as context:
        y = runtime.zeros(4, device=context)
        stream = runtime.Stream(0)
        for foreign in (x, y):
            with pytest.raises(runtime.InvalidArgument) as caught:
                stream.launch_kernel(print, (foreign,))
            assert caught.value.code == 107000


def test_pools_hand_out_again(rt):
    stream = runtime.Stream()
    with runtime.Pool(release_threshold=1 << 30) as pool:
        for _ in range(100):
            x = pool.allocate(1 << 16, stream=stream)
            stream.launch_kernel(lambda values: values.fill(1), (x,))
            stream.synchronize()
            del x
        counts = pool.counters()
        assert counts.allocations == 100 and counts.reused >= 90 and counts.grown <= 3
        held = pool.allocate((4, 4), "float32", stream)
        with pytest.raises(runtime.InvalidArgument):
            pool.destroy()
        assert held.shape == (4, 4)
        del held
        pool.trim()


def test_a_batch_is_one_command(rt):
    arrays = [runtime.empty(16, np.uint8) for _ in range(100)]
    with runtime.Stream() as stream:
        before = runtime.Device(0).counters().dma_h2d.commands
        runtime.memcpy_batch([(x, np.full(16, i, np.uint8)) for i, x in enumerate(arrays)], stream)
        stream.synchronize()
        assert runtime.Device(0).counters().dma_h2d.commands == before + 1
        assert stream.counters.submitted == 1 and stream.kept == 0
    results = [np.zeros(16, np.uint8) for _ in arrays]
    runtime.memcpy_batch(zip(results, arrays))
    assert [r[3] for r in results] == list(range(100))
    runtime.memcpy_batch([(arrays[0], arrays[7]), (arrays[1], arrays[8])])
    assert arrays[0].numpy()[0] == 7 and arrays[1].numpy()[0] == 8
    runtime.memcpy_batch([])


def test_batches_are_checked_as_a_whole(rt):
    x, y = runtime.zeros(4, np.uint8), runtime.zeros(4, np.uint8)
    host = np.ones(4, np.uint8)
    for bad in ([(x, host), (host, y)], [(x, host), (y, np.ones(5, np.uint8))], [(host, host)],
                [(x, host, y)], [(x.read_only(), host)]):
        with pytest.raises(runtime.Error):
            runtime.memcpy_batch(bad)
    with pytest.raises(TypeError):
        runtime.memcpy_batch(3)
    with pytest.raises(TypeError):
        runtime.memcpy_batch([3])
    assert not x.numpy().any() and not y.numpy().any()


@pytest.mark.parametrize("on_stream", [False, True])
def test_rows_are_copied_with_pitches(rt, on_stream):
    host = np.arange(48, dtype=np.uint8).reshape(6, 8)
    x = runtime.zeros((4, 3), np.uint8)
    back = np.zeros((4, 5), np.uint8)
    with runtime.Stream() as stream:
        named = stream if on_stream else None
        runtime.memcpy_2d(x, 3, host.reshape(-1)[9:], 8, 3, 4, named)
        runtime.memcpy_2d(back, 5, x, 3, 3, 4, named)
        stream.synchronize()
    assert np.array_equal(x.numpy(), host[1:5, 1:4])
    assert np.array_equal(back[:, :3], host[1:5, 1:4]) and not back[:, 3:].any()
    for bad in ((x, 3, host, 8, 4, 4), (x, 3, host, 8, 3, 5), (x, 2, host, 8, 3, 4),
                (x, 3, host, 2**62, 3, 4), (x, 3, host, 8, -1, 4), (host, 8, host, 8, 1, 1)):
        with pytest.raises(runtime.Error):
            runtime.memcpy_2d(*bad)


def test_elements_are_converted_on_the_way(rt):
    host = np.linspace(-300, 300, 101, dtype=np.float32)
    x = runtime.empty(101, np.float16)
    runtime.memcpy_convert(x, host)
    assert np.array_equal(x.numpy(), host.astype(np.float16))
    back = np.zeros(101, np.float32)
    runtime.memcpy_convert(back, x)
    assert np.array_equal(back, host.astype(np.float16).astype(np.float32))
    small = runtime.empty(101, np.int8)
    with runtime.Stream() as stream:
        runtime.memcpy_convert(small, host, scale=2.0, stream=stream)
        stream.synchronize()
    assert np.array_equal(small.numpy(), np.clip(np.rint(host / 2), -128, 127).astype(np.int8))
    for bad in ((x, np.zeros(102, np.float32)), (x, np.zeros(4)), (x, x), (back, host)):
        with pytest.raises(runtime.Error):
            runtime.memcpy_convert(*bad)
    with pytest.raises(runtime.InvalidArgument):
        runtime.memcpy_convert(small, host, scale=0)


def test_fills_take_a_value_of_the_dtype(rt):
    assert runtime.full((2, 3), 1.5).numpy().tolist() == [[1.5] * 3] * 2
    x = runtime.empty(5, np.int64)
    runtime.fill(x, -7)
    assert x.numpy().tolist() == [-7] * 5
    with runtime.Stream() as stream:
        runtime.fill(x[1:3], 9, stream)
        stream.synchronize()
    assert x.numpy().tolist() == [-7, 9, 9, -7, -7]
    with pytest.raises(runtime.InvalidArgument):
        runtime.fill(x, [1, 2])
    with pytest.raises(runtime.InvalidArgument):
        runtime.full(3, 0, np.complex128)
    with pytest.raises((ValueError, TypeError)):
        runtime.fill(x, "text")


def test_there_may_be_more_arrays_than_events(rt):
    arrays = [runtime.zeros(1, np.uint8) for _ in range(1000)]
    assert runtime.Device(0).counters().events < 10
    assert not any(x.numpy()[0] for x in arrays)


def test_copies_between_other_elements_are_refused(rt):
    x = runtime.zeros(4, np.float32)
    for source, words in ((np.arange(4), ("4 elements of float32", "4 elements of int64")),
                          (np.arange(4, dtype=np.int32), ("float32", "int32")),
                          (np.zeros(2, np.float32), ("4 elements of float32", "2 elements of float32")),
                          (np.zeros(4, ">f4"), ("float32", ">f4")),
                          (array.array("d", [1, 2]), ("float32", "float64"))):
        for copy in (lambda: x.copy_from(source), lambda: runtime.memcpy_host_to_device(x, source),
                     lambda: runtime.memcpy_batch([(x, source)]),
                     lambda: x.copy_from(source, runtime.Stream())):
            with pytest.raises(runtime.InvalidArgument) as caught:
                copy()
            assert all(word in str(caught.value) for word in words), str(caught.value)
    with pytest.raises(runtime.InvalidArgument, match="int64"):
        x.copy_to(np.zeros(2, np.int64))
    with pytest.raises(runtime.InvalidArgument, match="float16"):
        x.copy_from(runtime.zeros(8, np.float16))
    assert not x.numpy().any()


def test_bytes_and_equal_elements_are_copied(rt):
    x = runtime.zeros((2, 2), np.float32)
    x.copy_from(np.arange(4, dtype=np.float32))  # of another shape
    assert x.numpy().tolist() == [[0, 1], [2, 3]]
    x.reshape(4)[2:].copy_from(np.float32([7, 8]))
    x.copy_from(np.float32([9]).tobytes())  # bytes go to the beginning
    assert x.numpy().tolist() == [[9, 1], [7, 8]]
    x.view(np.uint8).copy_from(np.arange(2))
    assert x.view(np.int64).numpy().tolist() == [[0], [1]]
    raw = runtime.device_malloc(0, 16)
    raw.copy_from(np.float32([1, 2, 3, 4]))
    host = np.zeros(2)
    raw.copy_to(host)
    assert host.tobytes() == np.float32([1, 2, 3, 4]).tobytes()


def test_times_are_refused_by_name(rt):
    for make in (lambda: runtime.array(np.array(["2020-01-01"], "M8[D]")),
                 lambda: runtime.zeros(3, "m8[s]"), lambda: runtime.zeros(8, "u1").view("M8[s]"),
                 lambda: runtime.zeros(2, [("when", "M8[s]"), ("what", "i4")])):
        with pytest.raises(runtime.InvalidArgument, match="M8|datetime64|timedelta64"):
            make()
    pairs = runtime.zeros(2, [("a", "i4"), ("b", "f8")])
    assert np.asarray(pairs).dtype.names == ("a", "b")


def test_comparisons_say_what_to_call(rt):
    x, y = runtime.zeros(4), runtime.zeros(4)
    for compare in (lambda: x == y, lambda: x != y, lambda: x < 1, lambda: x >= y, lambda: x == None,
                    lambda: 1 in x, lambda: x in [y]):
        with pytest.raises(TypeError, match="numpy()"):
            compare()
    assert x in [x]
    with pytest.raises(TypeError):
        hash(x)
    assert (np.zeros(4) == x).all()  # numpy takes a view of it


def test_truth_is_that_of_numpy(rt):
    for value in (0.0, 1.0, np.nan):
        assert bool(runtime.full((1, 1), value)) is bool(np.float32(value))
    for shape in (2, (0,), (2, 2)):
        with pytest.raises(ValueError, match="ambiguous"):
            bool(runtime.zeros(shape))
    assert len(runtime.zeros((0, 3))) == 0
