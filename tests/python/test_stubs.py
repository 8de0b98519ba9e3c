"""The stubs have the names and parameters of the module, no more and no less; everything has a
docstring."""

import ast
import inspect
import pathlib
import re

import pytest

import runtime
from runtime import _runtime

STUB = pathlib.Path(runtime.__file__).parent / "_runtime.pyi"
TREE = ast.parse(STUB.read_text())
STUB_CLASSES = {each.name: each for each in TREE.body if isinstance(each, ast.ClassDef)}
STUB_FUNCTIONS = {each.name: each for each in TREE.body if isinstance(each, ast.FunctionDef)}
# Python gives these to every class, or their kind is plain.
COMMON = {"__doc__", "__module__", "__init__", "__repr__", "__weakref__", "__dict__", "__hash__",
          "__new__", "__qualname__", "__reduce_ex__"}


def public(space):
    return {name: each for name, each in vars(space).items() if not name.startswith("_")}


def members(made):
    return {name: each for name, each in vars(made).items()
            if name not in COMMON and not name.startswith("_pybind11")}


def parameters(function):
    """Names by the signature line in a docstring of pybind11, and whether each has a default."""
    line = (function.__doc__ or "").splitlines()[0]
    inside = line[line.index("(") + 1:line.rindex(") -> ")]
    found = re.findall(r"(?:^|, )(\*{0,2}\w*)(?:: [^=]*?(?=, \*|, \w+:|,? ?=|$))?( = )?", inside)
    return [(name, bool(default)) for name, default in found if name not in ("", "*")]


def stub_parameters(node):
    a = node.args
    plain = [each.arg for each in a.args]
    made = [(name, i >= len(plain) - len(a.defaults)) for i, name in enumerate(plain)]
    if a.vararg:
        made.append(("*args", False))
    made += [(each.arg, d is not None) for each, d in zip(a.kwonlyargs, a.kw_defaults)]
    if a.kwarg:
        made.append(("**kwargs", False))
    return [each for each in made if each[0] != "self"]


def test_the_stub_has_the_classes_and_functions_of_the_module():
    real = public(_runtime)
    classes = {name for name, each in real.items() if inspect.isclass(each)}
    functions = {name for name, each in real.items() if not inspect.isclass(each)}
    assert set(STUB_CLASSES) == classes
    assert set(STUB_FUNCTIONS) == functions


@pytest.mark.parametrize("name", STUB_CLASSES)
def test_a_class_has_the_members_that_its_stub_says(name):
    stub = {each.name: each for each in STUB_CLASSES[name].body if isinstance(each, ast.FunctionDef)}
    real = members(getattr(_runtime, name))
    assert set(stub) - COMMON == set(real)
    for member, each in real.items():
        is_property = any(isinstance(d, ast.Name) and d.id == "property"
                          for d in stub[member].decorator_list)
        assert is_property == isinstance(each, property), member


def all_callables():
    for name, node in STUB_FUNCTIONS.items():
        yield name, getattr(_runtime, name), node
    for owner, node in STUB_CLASSES.items():
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and not each.decorator_list:
                found = getattr(getattr(_runtime, owner), each.name)
                if not each.name.startswith("__"):
                    yield f"{owner}.{each.name}", found, each


@pytest.mark.parametrize("name,real,node", all_callables(), ids=lambda each: str(each)[:40])
def test_parameters_are_those_of_the_stub(name, real, node):
    wanted = [each for each in parameters(real) if each[0] not in ("self", "arg0")]
    assert wanted == stub_parameters(node), real.__doc__


def test_everything_public_is_exported_and_documented():
    for name, each in public(_runtime).items():
        if name not in ("Client", "Stage"):
            assert getattr(runtime, name) is each
        assert (each.__doc__ or "").strip(), name
    for name in runtime.__all__:
        assert (getattr(runtime, name).__doc__ or "").strip(), name
    for name, _, _ in all_callables():
        owner, _, member = name.rpartition(".")
        each = getattr(getattr(_runtime, owner) if owner else _runtime, member)
        assert len(each.__doc__.strip().splitlines()) > 1, f"{name} has a signature and no text"


@pytest.mark.parametrize("name", STUB_CLASSES)
def test_every_property_says_what_it_is(name):
    for member, each in members(getattr(_runtime, name)).items():
        if isinstance(each, property):
            assert (each.__doc__ or "").strip(), member


def test_stub_files_are_there_and_python_reads_them():
    folder = pathlib.Path(runtime.__file__).parent
    assert (folder / "py.typed").exists()
    for each in folder.glob("*.pyi"):
        ast.parse(each.read_text())


def test_the_stub_of_the_operators_has_their_parameters():
    from runtime import ops_nn

    tree = ast.parse((STUB.parent / "ops_nn.pyi").read_text())
    stubs = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    assert sorted(stubs) == sorted(ops_nn.__all__)
    for name, node in stubs.items():
        real = [(each.name, each.default is not each.empty)
                for each in inspect.signature(getattr(ops_nn, name)).parameters.values()]
        assert stub_parameters(node) == real, name
