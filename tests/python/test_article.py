"""Every sample of the article that introduces the module runs as printed. What it leaves open has a body
here: a kernel and its arguments, the data of the batch, and the tensors of the operator."""

import re

import numpy as np
import pytest

import runtime


def my_kernel(values, factor):
    values *= factor


def run(sample, **names):
    space = dict(names)
    exec(compile(sample, "sample", "exec"), space)
    return space


DEVICE = '''
import runtime

# 初始化 runtime
runtime.init()

# 获取设备数量
num_devices = runtime.get_device_count()
print(f"Available devices: {num_devices}")  # 8

# 选择设备
device = runtime.Device(0)  # 第 0 张卡

# 查询设备信息
props = device.get_properties()
print(f"Device name: {props.name}")  # Ascend 910
print(f"Memory: {props.total_memory / 1024**3:.1f} GB")  # 80.0 GB
'''

STREAM = '''
import runtime

# 创建流
stream = runtime.Stream(device)

# 在流上执行算子
stream.launch_kernel(my_kernel, args)

# 同步等待完成
stream.synchronize()

# 销毁流
stream.destroy()
'''

EVENT = '''
import runtime
import time

# 创建事件
start_event = runtime.Event()
end_event = runtime.Event()

# 记录开始时间
start_event.record(stream)

# 执行算子
stream.launch_kernel(my_kernel, args)

# 记录结束时间
end_event.record(stream)

# 等待完成
stream.synchronize()

# 计算耗时
elapsed_ms = start_event.elapsed_time(end_event)
print(f"Kernel took {elapsed_ms:.3f} ms")
'''

OPERATOR = '''
# 表面上看是你在调用算子
output = ops_nn.conv2d(input, weight)
'''

OPTIONS = '''
runtime.set_option("enableMemoryReuse", True)
runtime.set_option("enablePipelining", True)
runtime.set_option("enableAsync", True)
'''

RESOURCES = '''
# 查看内存
mem_info = runtime.get_device_memory_info(0)
print(f"Used: {mem_info.used / 1024**3:.1f} GB")
print(f"Free: {mem_info.free / 1024**3:.1f} GB")

# 查看算力
compute_info = runtime.get_device_compute_info(0)
print(f"FLOPS: {compute_info.fpeak / 10**12:.1f} TFLOPS")
'''

EXAMPLE_1 = '''
import runtime
import numpy as np

# 1. 初始化 runtime
runtime.init()

# 2. 查看设备
num_devices = runtime.get_device_count()
print(f"Available devices: {num_devices}")

for i in range(num_devices):
    props = runtime.get_device_properties(i)
    print(f"Device {i}: {props.name}")
    print(f"  Memory: {props.total_memory / 1024**3:.1f} GB")
    print(f"  Compute: {props.clock_rate / 1000:.0f} MHz")

# 3. 选择设备
device = runtime.Device(0)

# 4. 清理
runtime.shutdown()
'''

EXAMPLE_2 = '''
import runtime
import numpy as np

# 初始化
runtime.init()

# 分配设备内存
device = runtime.Device(0)
size = 1024 * 1024 * 4  # 4 MB

# 分配
dev_ptr = runtime.device_malloc(device, size)

# 拷贝数据（CPU → NPU）
host_data = np.random.randn(1024, 1024).astype(np.float32)
runtime.memcpy_host_to_device(dev_ptr, host_data)

# 在设备上使用（这里只是一个例子，实际要用算子）
# ...

# 拷贝结果（NPU → CPU）
result = np.empty_like(host_data)
runtime.memcpy_device_to_host(result, dev_ptr)

# 释放
runtime.device_free(dev_ptr)

# 清理
runtime.shutdown()
'''

EXAMPLE_3 = '''
import runtime
import numpy as np
import time

# 初始化
runtime.init()
device = runtime.Device(0)

# 创建流
stream = runtime.Stream(device)

# 创建事件
start_event = runtime.Event()
end_event = runtime.Event()

# 准备数据
data = runtime.device_malloc(device, 1024 * 1024 * 4)
result = runtime.device_malloc(device, 1024 * 1024 * 4)

# 记录开始
start_event.record(stream)

# 执行算子（用一个简单的拷贝作为例子）
runtime.memcpy_d2d(result, data, stream)

# 记录结束
end_event.record(stream)

# 等待完成
stream.synchronize()

# 计算时间
elapsed_ms = start_event.elapsed_time(end_event)
print(f"Elapsed: {elapsed_ms:.3f} ms")

# 清理
start_event.destroy()
end_event.destroy()
stream.destroy()
runtime.shutdown()
'''

EXAMPLE_4_BEGIN = '''
import runtime
import numpy as np

# 初始化
runtime.init()
device = runtime.Device(0)

# 创建流
stream1 = runtime.Stream(device)
stream2 = runtime.Stream(device)
stream3 = runtime.Stream(device)
'''

EXAMPLE_4_DATA = '''
data1, data2, data3 = [runtime.array(np.full(1024, i, np.float32), device) for i in (1, 2, 3)]
result1, result2, result3 = [runtime.zeros(1024, np.float32, device) for i in range(3)]
'''

EXAMPLE_4_END = '''
# 准备多个任务
tasks = [
    (stream1, data1, result1),
    (stream2, data2, result2),
    (stream3, data3, result3),
]

# 并行提交
for stream, data, result in tasks:
    runtime.memcpy_d2d(result, data, stream)

# 同步所有流
stream1.synchronize()
stream2.synchronize()
stream3.synchronize()

# 或者用一个屏障
runtime.stream_synchronize()
'''

EXAMPLE_4_CLEAN = '''
# 清理
for stream in [stream1, stream2, stream3]:
    stream.destroy()

runtime.shutdown()
'''

DEVICES = '''
# 查看设备
devices = runtime.get_available_devices()

# 设置当前设备
runtime.set_device(0)

# 获取当前设备
current = runtime.get_device()
'''

MEMORY = '''
# 分配
ptr = runtime.device_malloc(device, size)

# 拷贝
runtime.memcpy_host_to_device(dst, src)
runtime.memcpy_device_to_host(dst, src)
runtime.memcpy_d2d(dst, src)

# 释放
runtime.device_free(ptr)
'''

STREAMS = '''
# 创建
stream = runtime.Stream(device)

# 执行
stream.launch_kernel(kernel, args)

# 同步
stream.synchronize()
'''

EVENTS = '''
# 创建事件
event = runtime.Event()

# 记录时间点
event.record(stream)

# 计算间隔
elapsed = event1.elapsed_time(event2)
'''


@pytest.fixture
def device():
    runtime.init()
    return runtime.Device(0)


def test_device_sample_prints_what_the_article_says(capsys):
    run(DEVICE)
    assert capsys.readouterr().out.splitlines() == [
        "Available devices: 8", "Device name: Ascend 910", "Memory: 80.0 GB"]


def test_stream_sample_runs_the_kernel(device):
    x = runtime.array(np.arange(4, dtype=np.float32), device)
    run(STREAM, device=device, my_kernel=my_kernel, args=(x, 3))
    assert x.numpy().tolist() == [0, 3, 6, 9]


def test_event_sample_measures_the_kernel(device, capsys):
    x = runtime.array(np.arange(4, dtype=np.float32), device)
    space = run(EVENT, stream=runtime.Stream(device), my_kernel=my_kernel, args=(x, 2))
    assert x.numpy().tolist() == [0, 2, 4, 6]
    assert space["elapsed_ms"] > 0
    assert re.fullmatch(r"Kernel took \d+\.\d{3} ms\n", capsys.readouterr().out)


@pytest.mark.skipif(not hasattr(runtime, "apply_operator"), reason="built without operators")
def test_operator_sample(device):
    import ops_nn

    input, weight = np.ones((1, 2, 4, 4), np.float32), np.ones((3, 2, 3, 3), np.float32)
    space = run(OPERATOR, ops_nn=ops_nn, input=runtime.array(input, device),
                weight=runtime.array(weight, device))
    assert space["output"].shape == (1, 3, 2, 2) and (space["output"].numpy() == 18).all()


def test_options_sample():
    run(OPTIONS, runtime=runtime)
    for name in ("enableMemoryReuse", "enablePipelining", "enableAsync"):
        assert runtime.get_option(name) is True


def test_resources_sample(device, capsys):
    run(RESOURCES, runtime=runtime)
    assert capsys.readouterr().out.splitlines() == [
        "Used: 0.0 GB", "Free: 80.0 GB", "FLOPS: 256.0 TFLOPS"]


def test_example_1(capsys):
    run(EXAMPLE_1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == ["Available devices: 8", "Device 0: Ascend 910", "  Memory: 80.0 GB",
                         "  Compute: 1000 MHz"]
    assert len(lines) == 25
    assert not runtime.is_initialized()


def test_example_2():
    space = run(EXAMPLE_2)
    assert np.array_equal(space["result"], space["host_data"])


def test_example_3(capsys):
    space = run(EXAMPLE_3)
    assert space["elapsed_ms"] > 0
    assert capsys.readouterr().out.startswith("Elapsed: ")


def test_example_4():
    space = run(EXAMPLE_4_BEGIN + EXAMPLE_4_DATA + EXAMPLE_4_END +
                "seen = [r.numpy()[0] for r in (result1, result2, result3)]\n" + EXAMPLE_4_CLEAN)
    assert space["seen"] == [1, 2, 3]


def test_example_4_waits_by_the_barrier_alone():
    alone = re.sub(r"stream\d\.synchronize\(\)\n", "", EXAMPLE_4_END)
    space = run(EXAMPLE_4_BEGIN + EXAMPLE_4_DATA + alone)
    assert all(space[name].query() for name in ("stream1", "stream2", "stream3"))
    assert [space[f"result{i}"].numpy()[-1] for i in (1, 2, 3)] == [1, 2, 3]


def test_device_management(device):
    space = run(DEVICES, runtime=runtime)
    assert space["devices"] == list(range(8))
    assert space["current"] == 0 and space["current"] == device


def test_memory_management(device):
    """Its three copies have the same two names: each gets those that it is about."""
    host, on_host = np.arange(256, dtype=np.uint8), np.zeros(256, dtype=np.uint8)
    on_device, second = (runtime.device_malloc(device, 256) for i in range(2))
    meant = {"memcpy_host_to_device": (on_device, host), "memcpy_device_to_host": (on_host, on_device),
             "memcpy_d2d": (second, on_device)}
    space = {"runtime": runtime, "device": device, "size": 256}
    for line in MEMORY.splitlines():
        for call, (dst, src) in meant.items():
            if call in line:
                space.update(dst=dst, src=src)
        exec(line, space)
    assert np.array_equal(on_host, host) and np.array_equal(second.numpy(), host)
    assert space["ptr"].freed


def test_stream_management(device):
    x = runtime.array(np.ones(4, dtype=np.float32), device)
    run(STREAMS, runtime=runtime, device=device, kernel=my_kernel, args=[x, 5])
    assert x.numpy().tolist() == [5] * 4


def test_events_and_timing(device):
    stream = runtime.Stream(device)
    event1, event2 = stream.record(), stream.record()
    stream.synchronize()
    space = run(EVENTS, runtime=runtime, stream=stream, event1=event1, event2=event2)
    assert space["elapsed"] >= 0
