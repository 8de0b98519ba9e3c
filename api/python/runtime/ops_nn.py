"""Operators over device arrays.

Each takes device arrays (or what numpy takes, which is uploaded first) and returns a fresh device array.
What a call does: it checks names, attributes and shapes; takes memory for the output and for scratch;
submits the operator; waits until that has ended, unless the option ``enableAsync`` is set or a ``stream``
is named; and gives its scratch memory back. Without a stream calls are ordered by what they read and
write. Wrong shapes raise ``runtime.InvalidArgument``, which names the argument and both shapes, before
anything is taken.

Not a number (NaN) in an input is one in the output, but for ``relu``, ``max_pool``, ``reduce_max`` and
``reduce_min``, whose primitives compare: see there.

Types: float32 everywhere; float16, int8, uint8 and int32 where the library has the operator for this
processor (else 207000). Images are [batch, channels, height, width].
"""

from . import _runtime

__all__ = ["add", "average_pool", "batch_norm", "bias_add", "cast", "concat", "conv2d", "div", "gelu",
           "layer_norm", "matmul", "max_pool", "mul", "reduce_max", "reduce_mean", "reduce_min",
           "reduce_sum", "relu", "reshape", "sigmoid", "silu", "softmax", "sub", "tanh", "transpose"]


def _apply(name, inputs, stream, dtype=None, **attributes):
    given = {key: value for key, value in attributes.items() if value is not None}
    arrays = [each for each in inputs if isinstance(each, _runtime.DeviceArray)]
    where = arrays[0].context if arrays else None
    on_device = tuple(each if isinstance(each, _runtime.DeviceArray) else _runtime.array(each, where)
                      for each in inputs)
    return _runtime.apply_operator(name, on_device, given, dtype, stream)


def _pair(value):
    return (value, value) if hasattr(value, "__index__") else value


def conv2d(input, weight, bias=None, *, strides=1, padding=0, dilation=1, groups=1, stream=None):
    """Convolution of input [n, c, h, w] with weight [o, c / groups, kh, kw], plus bias [o] if given.

    ``strides`` and ``dilation`` are one number or (down, right); ``padding`` one number, (down, right) or
    (top, left, bottom, right). Returns [n, o, h', w']."""
    inputs = (input, weight) if bias is None else (input, weight, bias)
    return _apply("conv2d", inputs, stream, strides=_pair(strides), padding=_pair(padding),
                  dilation=_pair(dilation), groups=groups)


def max_pool(input, kernel, *, strides=None, padding=0, stream=None):
    """The largest of each window of input [n, c, h, w]; without ``strides`` windows do not overlap. NaN is
    passed over: numpy would give it."""
    return _apply("max_pool", (input,), stream, kernel=_pair(kernel), padding=_pair(padding),
                  strides=_pair(strides))


def average_pool(input, kernel, *, strides=None, padding=0, count_padding=False, stream=None):
    """The mean of each window; padding counts as nothing, or by ``count_padding`` as zeros."""
    return _apply("average_pool", (input,), stream, kernel=_pair(kernel), padding=_pair(padding),
                  strides=_pair(strides), count_padding=int(count_padding))


def matmul(left, right, *, stream=None):
    """[..., m, k] times [..., k, n]."""
    return _apply("matmul", (left, right), stream)


def add(left, right, *, stream=None):
    """left + right, which broadcast as in numpy."""
    return _apply("add", (left, right), stream)


def sub(left, right, *, stream=None):
    """left - right, which broadcast as in numpy."""
    return _apply("sub", (left, right), stream)


def mul(left, right, *, stream=None):
    """left * right, which broadcast as in numpy."""
    return _apply("mul", (left, right), stream)


def div(left, right, *, stream=None):
    """left / right, which broadcast as in numpy."""
    return _apply("div", (left, right), stream)


def bias_add(input, bias, *, axis=1, stream=None):
    """input with ``bias`` added along ``axis``."""
    return _apply("bias_add", (input, bias), stream, axis=axis)


def relu(input, *, stream=None):
    """max(x, 0), which is 0 for NaN: numpy and others would give NaN."""
    return _apply("relu", (input,), stream)


def gelu(input, *, stream=None):
    """x times the normal distribution's integral up to x."""
    return _apply("gelu", (input,), stream)


def silu(input, *, stream=None):
    """x * sigmoid(x)."""
    return _apply("silu", (input,), stream)


def sigmoid(input, *, stream=None):
    """1 / (1 + exp(-x))."""
    return _apply("sigmoid", (input,), stream)


def tanh(input, *, stream=None):
    """The hyperbolic tangent."""
    return _apply("tanh", (input,), stream)


def softmax(input, *, axis=-1, stream=None):
    """exp(x) over the sum of these along ``axis``."""
    return _apply("softmax", (input,), stream, axis=axis)


def batch_norm(input, scale, shift, mean, variance, *, epsilon=1e-5, stream=None):
    """(x - mean) / sqrt(variance + epsilon) * scale + shift, by channels of input [n, c, ...]."""
    return _apply("batch_norm", (input, scale, shift, mean, variance), stream, epsilon=epsilon)


def layer_norm(input, scale, shift, *, epsilon=1e-5, stream=None):
    """The same by mean and variance of each row of the last dimension."""
    return _apply("layer_norm", (input, scale, shift), stream, epsilon=epsilon)


def reduce_sum(input, *, axes=None, keep_dims=True, stream=None):
    """The sum over ``axes``, or over all; these become 1, or go."""
    return _apply("reduce_sum", (input,), stream, axes=axes, keep_dims=int(keep_dims))


def reduce_mean(input, *, axes=None, keep_dims=True, stream=None):
    """The mean over ``axes``, or over all; these become 1, or go."""
    return _apply("reduce_mean", (input,), stream, axes=axes, keep_dims=int(keep_dims))


def reduce_max(input, *, axes=None, keep_dims=True, stream=None):
    """The largest over ``axes``, or over all; these become 1, or go. NaN is passed over."""
    return _apply("reduce_max", (input,), stream, axes=axes, keep_dims=int(keep_dims))


def reduce_min(input, *, axes=None, keep_dims=True, stream=None):
    """The smallest over ``axes``, or over all; these become 1, or go. NaN is passed over."""
    return _apply("reduce_min", (input,), stream, axes=axes, keep_dims=int(keep_dims))


def transpose(input, permutation, *, stream=None):
    """Dimension i of the output is dimension permutation[i] of the input."""
    return _apply("transpose", (input,), stream, permutation=permutation)


def reshape(input, shape, *, stream=None):
    """A copy in another shape, one length of which may be -1."""
    return _apply("reshape", (input,), stream, shape=shape)


def concat(inputs, *, axis=0, stream=None):
    """2 to 8 arrays joined along ``axis``."""
    return _apply("concat", tuple(inputs), stream, axis=axis)


def cast(input, dtype, *, stream=None):
    """A copy with elements of another type: float32, float16, int32, int8 or uint8."""
    return _apply("cast", (input,), stream, dtype)
