import subprocess
import sys

import pytest

import runtime


@pytest.fixture(autouse=True)
def fresh():
    """Each test begins and ends without a runtime and with all options off."""
    yield
    runtime.shutdown()
    for name in ("enableMemoryReuse", "enablePipelining", "enableAsync"):
        runtime.set_option(name, False)


@pytest.fixture
def rt():
    """A runtime with two devices."""
    with runtime.init(devices=2) as session:
        yield session


def run_child(code, timeout=120, **kwargs):
    """Runs a program in a process of its own; its exit code and all that it said."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          timeout=timeout, **kwargs)
    return done.returncode, done.stdout + done.stderr


