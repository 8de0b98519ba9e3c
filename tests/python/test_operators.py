"""Operators against numpy: answers, shapes, options, streams, graphs and refusals."""

import numpy as np
import pytest

import runtime
from conftest import run_child

if not hasattr(runtime, "apply_operator"):
    pytest.skip("built without operators", allow_module_level=True)

from runtime import ops_nn, testing

RANDOM = np.random.default_rng(7)


def values(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def convolve(x, w, bias=None, strides=(1, 1), padding=(0, 0)):
    x = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    height = (x.shape[2] - w.shape[2]) // strides[0] + 1
    width = (x.shape[3] - w.shape[3]) // strides[1] + 1
    made = np.zeros((x.shape[0], w.shape[0], height, width), np.float64)
    for i in range(height):
        for j in range(width):
            at = x[:, :, i * strides[0]:i * strides[0] + w.shape[2],
                   j * strides[1]:j * strides[1] + w.shape[3]]
            made[:, :, i, j] = np.einsum("nchw,ochw->no", at, w)
    return made if bias is None else made + bias.reshape(1, -1, 1, 1)


def near(made, wanted):
    assert made.shape == wanted.shape
    np.testing.assert_allclose(made.numpy(), wanted, rtol=2e-4, atol=2e-5)


def test_conv2d_as_in_the_article(rt):
    import ops_nn as imported

    x, w = values(2, 3, 8, 8), values(4, 3, 3, 3)
    input, weight = runtime.array(x), runtime.array(w)
    space = {"ops_nn": imported, "input": input, "weight": weight}
    exec("output = ops_nn.conv2d(input, weight)", space)
    near(space["output"], convolve(x, w))


def test_conv2d_with_all_its_options(rt):
    x, w, b = values(1, 4, 9, 7), values(6, 4, 3, 2), values(6)
    near(ops_nn.conv2d(x, w, b, strides=(2, 1), padding=(1, 2)),
         convolve(x, w, b, (2, 1), (1, 2)))
    grouped = ops_nn.conv2d(x, w[:, :2], groups=2)
    near(grouped, np.concatenate([convolve(x[:, :2], w[:3, :2]), convolve(x[:, 2:], w[3:, :2])], 1))


CASES = {
    "matmul": (lambda a, b: ops_nn.matmul(a, b.reshape(4, 3)), lambda a, b: a @ b.reshape(4, 3)),
    "add": (ops_nn.add, np.add),
    "sub": (ops_nn.sub, np.subtract),
    "mul": (ops_nn.mul, np.multiply),
    "div": (ops_nn.div, np.divide),
    "broadcast": (lambda a, b: ops_nn.add(a, b[0]), lambda a, b: a + b[0]),
    "bias_add": (lambda a, b: ops_nn.bias_add(a, b[0], axis=1), lambda a, b: a + b[0]),
    "relu": (lambda a, b: ops_nn.relu(a), lambda a, b: np.maximum(a, 0)),
    "sigmoid": (lambda a, b: ops_nn.sigmoid(a), lambda a, b: 1 / (1 + np.exp(-a))),
    "silu": (lambda a, b: ops_nn.silu(a), lambda a, b: a / (1 + np.exp(-a))),
    "tanh": (lambda a, b: ops_nn.tanh(a), lambda a, b: np.tanh(a)),
    "softmax": (lambda a, b: ops_nn.softmax(a),
                lambda a, b: np.exp(a) / np.exp(a).sum(-1, keepdims=True)),
    "softmax of columns": (lambda a, b: ops_nn.softmax(a, axis=0),
                           lambda a, b: np.exp(a) / np.exp(a).sum(0, keepdims=True)),
    "reduce_sum": (lambda a, b: ops_nn.reduce_sum(a), lambda a, b: a.sum(keepdims=True)),
    "reduce_mean": (lambda a, b: ops_nn.reduce_mean(a, axes=[1], keep_dims=False),
                    lambda a, b: a.mean(1)),
    "reduce_max": (lambda a, b: ops_nn.reduce_max(a, axes=[0]), lambda a, b: a.max(0, keepdims=True)),
    "reduce_min": (lambda a, b: ops_nn.reduce_min(a, axes=[0]), lambda a, b: a.min(0, keepdims=True)),
    "transpose": (lambda a, b: ops_nn.transpose(a, (1, 0)), lambda a, b: a.T),
    "reshape": (lambda a, b: ops_nn.reshape(a, (2, -1)), lambda a, b: a.reshape(2, -1)),
    "concat": (lambda a, b: ops_nn.concat([a, b], axis=1),
               lambda a, b: np.concatenate([a, b], 1)),
    "cast": (lambda a, b: ops_nn.cast(ops_nn.cast(a, "int32"), np.float32),
             lambda a, b: np.rint(a)),
}


@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_of_numpy(rt, name):
    made, wanted = CASES[name]
    a, b = values(3, 4), values(3, 4) + 3
    near(made(runtime.array(a), runtime.array(b)), wanted(a, b))


def test_gelu(rt):
    x = values(3, 4)
    made = ops_nn.gelu(x).numpy()
    wanted = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    np.testing.assert_allclose(made, wanted, atol=2e-3)


def test_pooling(rt):
    x = values(1, 2, 4, 6)
    windows = x.reshape(1, 2, 2, 2, 3, 2)
    near(ops_nn.max_pool(x, 2), windows.max((3, 5)))
    near(ops_nn.average_pool(x, (2, 2)), windows.mean((3, 5)))
    assert ops_nn.max_pool(x, 2, strides=1, padding=1).shape == (1, 2, 5, 7)


def test_normalisation(rt):
    x, scale, shift = values(2, 3, 4), values(4), values(4)
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    near(ops_nn.layer_norm(x, scale, shift), (x - mean) / np.sqrt(variance + 1e-5) * scale + shift)
    scale, shift, mean, variance = values(3), values(3), values(3), np.abs(values(3))
    by = (1, 3, 1)
    near(ops_nn.batch_norm(x, scale, shift, mean, variance, epsilon=0.1),
         (x - mean.reshape(by)) / np.sqrt(variance.reshape(by) + 0.1) * scale.reshape(by) +
         shift.reshape(by))


def test_there_is_a_function_for_each_operator(rt):
    assert sorted(ops_nn.__all__) == sorted(runtime.operator_names())
    for name in ops_nn.__all__:
        assert getattr(ops_nn, name).__doc__


def test_refusals_name_argument_and_shapes_and_take_nothing(rt):
    x, w = runtime.zeros((1, 3, 8, 8)), runtime.zeros((4, 2, 3, 3))
    before = runtime.Device(0).counters().allocations
    with pytest.raises(runtime.InvalidArgument) as caught:
        ops_nn.conv2d(x, w)
    assert "weight" in str(caught.value) and "[4, 2, 3, 3]" in str(caught.value)
    for call in (lambda: ops_nn.matmul(x, w), lambda: ops_nn.add(x, w),
                 lambda: ops_nn.softmax(x, axis=7), lambda: ops_nn.conv2d(x, x, strides=0),
                 lambda: ops_nn.reshape(x, (7, 7)), lambda: ops_nn.transpose(x, (0, 0, 1, 2)),
                 lambda: runtime.apply_operator("no_such", (x,)),
                 lambda: runtime.apply_operator("relu", ()),
                 lambda: runtime.apply_operator("relu", (x,), {"slope": 1}),
                 lambda: ops_nn.relu(runtime.zeros((2, 2), np.float64)),
                 lambda: ops_nn.add(x, runtime.zeros((1, 3, 8, 8), device=1))):
        with pytest.raises(runtime.InvalidArgument):
            call()
    assert runtime.Device(0).counters().allocations - before <= 4


def test_operators_on_streams_and_by_name(rt):
    a, out = runtime.array(values(4, 4)), runtime.zeros((4, 4))
    with runtime.Stream() as stream:
        b = ops_nn.relu(a, stream=stream)
        c = ops_nn.add(b, b, stream=stream)
        stream.launch_kernel("matmul", (c, a, out))
        stream.synchronize()
        wanted = 2 * np.maximum(a.numpy(), 0) @ a.numpy()
        near(out, wanted)
        with pytest.raises(runtime.Error) as caught:
            stream.launch_kernel("no_such_operator", (a, out))
        assert caught.value.code == 507027
        with pytest.raises(runtime.InvalidArgument):
            stream.launch_kernel("relu", (a, out.read_only()))


def test_operators_are_captured(rt):
    a, out = runtime.array(values(4, 4)), runtime.zeros((4, 4))
    stream = runtime.Stream()
    with stream.capture() as graph:
        stream.launch_kernel("relu", (a, out))
    run = graph.instantiate()
    for _ in range(2):
        fresh = values(4, 4)
        a.copy_from(fresh)
        run.launch(stream)
        stream.synchronize()
        near(out, np.maximum(fresh, 0))


def network(x, weights):
    for w in weights:
        x = ops_nn.relu(ops_nn.matmul(x, w))
    return ops_nn.softmax(x)


def test_options_do_not_change_answers(rt):
    x, weights = values(8, 16), [values(16, 16) for _ in range(4)]
    wanted = network(x, weights).numpy()
    for options in range(8):
        for bit, name in enumerate(("enableMemoryReuse", "enablePipelining", "enableAsync")):
            runtime.set_option(name, bool(options >> bit & 1))
        for _ in range(5):
            assert np.array_equal(network(x, weights).numpy(), wanted)


def test_memory_reuse_counts_for_operators(rt):
    x, weights = runtime.array(values(8, 16)), [runtime.array(values(16, 16)) for _ in range(4)]

    def allocations():
        before = runtime.Device(0).counters().allocations
        for _ in range(20):
            network(x, weights)
        return runtime.Device(0).counters().allocations - before

    network(x, weights)
    without = allocations()
    runtime.set_option("enableMemoryReuse", True)
    network(x, weights)
    assert without >= 180 and allocations() <= 2


def test_operators_run_in_simulated_time_and_overlap_copies_by_pipelining():
    def measured(pipelining):
        seen = []

        def body(stage):
            host = [values(64, 64) for _ in range(8)]
            w = runtime.array(values(64, 64))
            inputs = [runtime.empty((64, 64)) for _ in host]
            begun = stage.elapsed
            made = []
            for source, x in zip(host, inputs):
                x.copy_from(source)
                made.append(ops_nn.matmul(x, w))
            runtime.stream_synchronize()
            seen.append(stage.elapsed - begun)
            for source, y in zip(host, made):
                np.testing.assert_allclose(y.numpy(), source @ w.numpy(), rtol=1e-3, atol=1e-4)

        runtime.set_option("enableAsync", True)
        runtime.set_option("enablePipelining", pipelining)
        profile = {"memory_bytes": 1 << 28, "link_bandwidth": 16e6}
        report = testing.simulate(body, options={"devices": [profile]},
                                  costs={"matmul": 10**6, "copy_setup_ns": 0})
        assert report.hang is None and report.violations == []
        return seen[0]

    assert measured(True) < 0.65 * measured(False)


def test_failures_of_operators_reach_who_looks_at_their_results():
    plan = {"entries": [{"name": "broken", "pick": {"point": "execute", "engine": "compute"},
                         "action": {"kind": "fail_at_execution"}}]}

    def body(stage):
        with pytest.raises(runtime.Error) as caught:
            ops_nn.relu(runtime.array(values(4, 4)))
        assert caught.value.origin["plan_entry"] == "broken"
        near(ops_nn.relu(np.ones((2, 2), np.float32)), np.ones((2, 2)))

    testing.simulate(body, options={"devices": [{"memory_bytes": 1 << 28}]}, plan=plan)


def test_the_module_is_left_cleanly_with_operators_under_way():
    code, said = run_child('''
import numpy as np, runtime
from runtime import ops_nn
runtime.init(devices=1)
runtime.set_option("enableAsync", True)
x = runtime.array(np.ones((256, 256), np.float32))
for i in range(50): x = ops_nn.matmul(x, x)
''')
    assert code == 0 and said == "", said


def test_what_becomes_of_nan_is_as_documented(rt):
    x = np.float32([[np.nan, -1, 2, 0]])
    for name in ("gelu", "silu", "sigmoid", "tanh", "reduce_sum", "softmax"):
        assert np.isnan(getattr(ops_nn, name)(x).numpy()).any(), name
    assert np.isnan(ops_nn.add(x, x).numpy()).sum() == 1
    assert ops_nn.relu(x).numpy().tolist() == [[0, 0, 2, 0]]
    assert "NaN" in ops_nn.relu.__doc__
    assert ops_nn.reduce_max(x).numpy().tolist() == [[2]] and "NaN" in ops_nn.reduce_max.__doc__
    assert ops_nn.reduce_min(x).numpy().tolist() == [[-1]] and "NaN" in ops_nn.reduce_min.__doc__
    assert ops_nn.max_pool(x.reshape(1, 1, 2, 2), 2).numpy().item() == 2
    assert "NaN" in ops_nn.max_pool.__doc__
