#!/usr/bin/python3
"""Computes tests/operators/cases.json with numpy (Debian: python3-numpy), in double precision.

Usage: make_cases.py > cases.json. Inputs are multiples of 1/8, so that they are exact in f32.
"""
import json
from math import erf, prod

import numpy as np

chance = np.random.default_rng(6)
cases = []


def some(*shape):
    return chance.integers(-16, 17, shape) / 8.0


def case(name, inputs, output, **attributes):
    def tensor(values, digits):
        values = np.asarray(values, dtype=np.float64)
        return {"shape": list(values.shape), "values": [round(v, digits) for v in values.ravel()]}

    cases.append({"name": name, "attributes": attributes,
                  "inputs": [tensor(i, 3) for i in inputs], "output": tensor(output, 7)})


def windows(x, kernel, strides, padding, dilation, fill):
    """Yields (row, column, window [n, c, kh, kw]) of each place."""
    top, left, bottom, right = padding
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    for i, y0 in enumerate(range(0, x.shape[2] - reach[0] + 1, strides[0])):
        for j, x0 in enumerate(range(0, x.shape[3] - reach[1] + 1, strides[1])):
            yield i, j, x[:, :, y0:y0 + reach[0]:dilation[0], x0:x0 + reach[1]:dilation[1]]


def collect(parts):
    parts = list(parts)
    rows, columns = parts[-1][0] + 1, parts[-1][1] + 1
    out = np.empty(parts[0][2].shape + (rows, columns))
    for i, j, value in parts:
        out[..., i, j] = value
    return out


def conv2d(x, w, bias=None, strides=(1, 1), padding=(0, 0, 0, 0), dilation=(1, 1), groups=1):
    outs = []
    for xs, ws in zip(np.split(x, groups, 1), np.split(w, groups, 0)):
        outs.append(collect((i, j, np.einsum("nchw,ochw->no", p, ws)) for i, j, p in
                            windows(xs, w.shape[2:], strides, padding, dilation, 0.0)))
    out = np.concatenate(outs, 1)
    return out if bias is None else out + bias[None, :, None, None]


x, w, b = some(2, 3, 6, 5), some(4, 3, 3, 2), some(4)
case("conv2d", [x, w], conv2d(x, w))
case("conv2d", [x, w, b], conv2d(x, w, b, (2, 1), (1, 0, 2, 1)), strides=[2, 1],
     padding=[1, 0, 2, 1])
case("conv2d", [x, w], conv2d(x, w, dilation=(2, 3)), dilation=[2, 3])
x, w = some(1, 4, 5, 5), some(6, 2, 3, 3)
case("conv2d", [x, w], conv2d(x, w, padding=(1, 1, 1, 1), groups=2), padding=[1, 1], groups=2)

a, c = some(3, 4), some(4, 5)
case("matmul", [a, c], a @ c)
a, c = some(2, 3, 4), some(2, 4, 2)
case("matmul", [a, c], a @ c)
a, c = some(2, 3, 4), some(1, 4, 2)
case("matmul", [a, c], a @ c)

x = some(2, 3, 4)
for name, op in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply),
                 ("div", np.divide)):
    for shape in ((2, 3, 4), (3, 1), (4,)):
        y = some(*shape)
        y[y == 0] = 0.5
        case(name, [x, y], op(x, y))
y = some(3)
case("bias_add", [x, y], x + y[None, :, None])
y = some(4)
case("bias_add", [x, y], x + y, axis=-1)

sigmoid = 1 / (1 + np.exp(-x))
case("relu", [x], np.maximum(x, 0))
case("gelu", [x], x * 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2))))
case("silu", [x], x * sigmoid)
case("sigmoid", [x], sigmoid)
case("tanh", [x], np.tanh(x))

x = some(1, 2, 5, 4)
case("max_pool", [x], collect((i, j, p.max((2, 3))) for i, j, p in windows(
    x, (2, 2), (2, 2), (0, 0, 0, 0), (1, 1), 0)), kernel=[2, 2])
case("max_pool", [x], collect((i, j, p.max((2, 3))) for i, j, p in windows(
    x, (3, 2), (2, 1), (1, 1, 1, 1), (1, 1), -np.inf)), kernel=[3, 2], strides=[2, 1],
    padding=[1, 1])
case("average_pool", [x], collect((i, j, np.nanmean(p, (2, 3))) for i, j, p in windows(
    x, (2, 2), (1, 1), (1, 1, 1, 1), (1, 1), np.nan)), kernel=[2, 2], strides=[1, 1],
    padding=[1, 1])
case("average_pool", [x], collect((i, j, p.mean((2, 3))) for i, j, p in windows(
    x, (2, 2), (1, 1), (1, 1, 1, 1), (1, 1), 0)), kernel=[2, 2], strides=[1, 1],
    padding=[1, 1], count_padding=1)

scale, shift, mean, variance = some(2), some(2), some(2), np.abs(some(2)) + 0.5
wide = lambda v: v[None, :, None, None]
case("batch_norm", [x, scale, shift, mean, variance],
     wide(scale) * (x - wide(mean)) / np.sqrt(wide(variance) + 1e-3) + wide(shift), epsilon=1e-3)
x, scale, shift = some(3, 5), some(5), some(5)
centred = x - x.mean(-1, keepdims=True)
case("layer_norm", [x, scale, shift],
     scale * centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) + shift)

x = some(2, 3, 4)
for axis in (-1, 0, 1):
    e = np.exp(x)
    case("softmax", [x], e / e.sum(axis, keepdims=True), axis=axis)
for name, op in (("sum", np.sum), ("mean", np.mean), ("max", np.max), ("min", np.min)):
    case("reduce_" + name, [x], op(x, (0, 2), keepdims=True), axes=[0, 2])
    case("reduce_" + name, [x], op(x, 1), axes=[1], keep_dims=0)
    case("reduce_" + name, [x], np.reshape(op(x), (1, 1, 1)))
case("transpose", [x], x.transpose(2, 0, 1), permutation=[2, 0, 1])
case("reshape", [x], x.reshape(6, 4), shape=[-1, 4])
y = some(2, 1, 4)
case("concat", [x, y, y], np.concatenate([x, y, y], 1), axis=1)
case("cast", [x], x)

for each in cases:
    assert all(len(t["values"]) == prod(t["shape"]) for t in each["inputs"] + [each["output"]])
print("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]")
