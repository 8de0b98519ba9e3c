"""The installed Python package is the one that is found, complete, and works."""

import pathlib
import sys

import runtime
import runtime.testing

folder = pathlib.Path(runtime.__file__).resolve().parent
assert folder.is_relative_to(pathlib.Path(sys.argv[1]).resolve()), folder
for name in ("py.typed", "_runtime.pyi", "errors.py", "testing.py", "ops_nn.py", "../ops_nn.py"):
    assert (folder / name).is_file() and not (folder / name).is_symlink(), name
with runtime.init(devices=1):
    x = runtime.array([1.0, 2.0], dtype="float32")
    with runtime.Stream() as stream:
        stream.launch_kernel(lambda values: values.__imul__(2), (x,))
    assert x.numpy().tolist() == [2, 4]
    if hasattr(runtime, "apply_operator"):
        import ops_nn

        assert ops_nn.relu(x).shape == (2,)
