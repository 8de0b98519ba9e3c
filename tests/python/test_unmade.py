"""Objects that __init__ never saw: each use is a TypeError, never a crash."""

import inspect

import pytest

import runtime
from runtime import _runtime
from conftest import run_child

CLASSES = [each for _, each in inspect.getmembers(_runtime, inspect.isclass)]

# In a process of its own, as a crash would end this one.
PROGRAM = '''
import runtime
from runtime import _runtime
runtime.init(devices=1)
made = _runtime.CLASS.__new__(_runtime.CLASS)
refused = 0
def refuses(f, *args):
    global refused
    try: f(made, *args)
    except TypeError as e: refused += "never made" in str(e)
    except runtime.Error: raise SystemExit(f"{f} took it")
for name, each in list(vars(_runtime.CLASS).items()):
    if isinstance(each, property): refuses(each.fget)
    elif callable(each) and name not in ("__new__", "__init__", "__class__", "__reduce_ex__"):
        for count in range(5): refuses(each, *[None] * count)
repr_refused = 0
try: repr(made)
except TypeError as e: assert "never made" in str(e), e
for use in (len, bool, memoryview, hash, lambda m: m == m, lambda m: m[0]):
    try: use(made)
    except TypeError: pass
print(refused > 0)
'''


@pytest.mark.parametrize("name", [each.__name__ for each in CLASSES])
def test_what_new_gives_is_of_no_use(name):
    code, said = run_child(PROGRAM.replace("CLASS", name))
    assert code == 0 and said.strip() == "True", said


def test_a_subclass_that_forgets_super_is_told(rt):
    class Mine(runtime.Stream):
        def __init__(self):
            self.query()

    with pytest.raises(TypeError, match="super"):
        Mine()


def test_unmade_objects_are_no_arguments(rt):
    array = runtime.DeviceArray.__new__(runtime.DeviceArray)
    stream = runtime.Stream.__new__(runtime.Stream)
    event = runtime.Event.__new__(runtime.Event)
    x = runtime.zeros(4)
    for call in (lambda: runtime.memcpy_d2d(x, array), lambda: x.copy_from(array),
                 lambda: runtime.launch_kernel(print, (array,)), lambda: memoryview(array),
                 lambda: x.copy_from(b"abc", stream),
                 lambda: runtime.Stream().wait(event), lambda: runtime.Stream(stream),
                 lambda: runtime.device_free(array), lambda: runtime.Pool().allocate(4, "u1", stream)):
        with pytest.raises(TypeError):
            call()


def test_a_subclass_that_calls_super_works(rt):
    class Mine(runtime.Stream):
        def __init__(self, name):
            super().__init__(priority=1)
            self.name = name

    with Mine("copies") as stream:
        stream.launch_kernel(lambda: None)
        assert stream.name == "copies" and stream.priority == 1
