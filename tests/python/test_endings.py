"""Ctrl-C, and the end of the interpreter with live objects and pending work: in processes of their
own."""

import signal
import subprocess
import sys

import pytest

import runtime
from conftest import run_child

PENDING = '''
import runtime, threading, numpy as np
runtime.init(devices=1, stop_bound_ms=200)
x = runtime.array(np.arange(1000))
stream = runtime.Stream()
'''

# What is alive or under way as the program ends.
SITUATIONS = {
    "nothing": "",
    "never initialised": "import sys; runtime.shutdown()",
    "a stream that waits for ever": "stream.wait(runtime.Signal())",
    "kernels that have not begun":
        "stream.wait(runtime.Signal())\nfor i in range(100): stream.launch_kernel(print, (x,))",
    "kernels that run": "for i in range(200): stream.launch_kernel(lambda v: v.sum(), (x,))",
    "an endless kernel":
        "def endless():\n  while True: pass\nstream.launch_kernel(endless)",
    "a kernel that sleeps":
        "import time\ngo = threading.Event()\n"
        "stream.launch_kernel(lambda: (go.set(), time.sleep(1000)))\ngo.wait()",
    "a kernel that wakes up while the interpreter ends":
        "import time, builtins\ngo = threading.Event()\n"
        "class Slow:\n  def __del__(self, sleep=time.sleep): sleep(2)\n"
        "builtins.slow = Slow()\n"
        "stream.launch_kernel(lambda: (go.set(), time.sleep(2), [1]))\ngo.wait()",
    "copies of host arrays":
        "stream.wait(runtime.Signal())\nstream2 = runtime.Stream()\n"
        "h = np.zeros(1 << 20)\nd = runtime.empty(1 << 20, float)\n"
        "runtime.memcpy_device_to_host(h, d, stream)\ndel h\n"
        "for i in range(20): runtime.memcpy_host_to_device(d, np.zeros(1 << 20), stream2)",
    "callbacks": "for i in range(50): stream.callback(lambda: None)",
    "a graph": "with stream.capture() as g: stream.launch_kernel(print, (x,))\ne = g.instantiate()",
    "a capture that goes on": "c = stream.capture(); c.__enter__()",
    "views of memory": "v = memoryview(x); a = np.from_dlpack(x)",
    "pending calls without a stream":
        "runtime.set_option('enableAsync', True); runtime.set_option('enablePipelining', True)\n"
        "for i in range(50): runtime.full(1000, 1)",
    "a daemon thread that waits":
        "stream.wait(runtime.Signal())\n"
        "t = threading.Thread(target=stream.synchronize, daemon=True); t.start()",
    "a daemon thread that works":
        "def work():\n"
        "  while True: runtime.array(np.arange(1000)).numpy()\n"
        "t = threading.Thread(target=work, daemon=True); t.start()",
    "daemon threads that catch what they can":
        "def work():\n"
        "  while True:\n"
        "    try: stream.launch_kernel(lambda: None); stream.synchronize()\n"
        "    except Exception: pass\n"
        "for i in range(3): threading.Thread(target=work, daemon=True).start()",
    "a daemon thread that an exit handler joins":
        "import atexit\nstream.wait(runtime.Signal())\n"
        "t = threading.Thread(target=stream.synchronize, daemon=True); t.start()\n"
        "atexit.unregister(runtime._runtime._end_with_python)\natexit.register(t.join)\n"
        "atexit.register(runtime._runtime._end_with_python)",
    "thread locals": "l = threading.local(); l.x = x; l.s = stream",
    "objects that outlive the module": "import builtins; builtins.kept = (x, stream, runtime.Event())",
    "a cycle": "class C: pass\nc = C(); c.c = c; c.x = x; c.s = stream",
    "shut down before": "runtime.shutdown()",
    "shut down with work": "stream.wait(runtime.Signal()); runtime.shutdown()",
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_interpreter_ends_well(situation):
    code, said = run_child(PENDING + SITUATIONS[situation] + "\nimport sys; sys.exit(7)")
    told = [line for line in said.splitlines() if line]
    assert code == 7, said
    if situation in ("a kernel that sleeps", "a kernel that wakes up while the interpreter ends"):
        assert "507000" in said  # the threads that are still in user code are named
    else:
        assert told == [], said


def test_handlers_of_the_program_that_come_after_the_end_are_refused():
    code, said = run_child('''
import atexit
def late():
  for call in (runtime.init, lambda: x.numpy(), stream.synchronize, lambda: runtime.Stream()):
    try: call()
    except runtime.Error as e: print(e.code)
atexit.register(late)
''' + PENDING)
    assert code == 0 and said.split() == ["100001"] * 4, said


def test_an_exception_is_told_and_the_exit_code_is_pythons():
    code, said = run_child(PENDING + "stream.wait(runtime.Signal())\nraise KeyError('mine')")
    assert code == 1 and "KeyError: 'mine'" in said


def test_a_forked_child_gets_errors_and_ends():
    code, said = run_child(PENDING + '''
import os
child = os.fork()
if child == 0:
  try:
    stream.synchronize()
  except runtime.Error as e:
    os._exit(3 if e.code == 207000 else 4)
  os._exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
''')
    assert code == 0 and said.strip() == "3", said


def test_a_forked_child_that_ends_as_python_does_ends_well():
    code, said = run_child(PENDING + '''
import os, sys
child = os.fork()
if child == 0:
  sys.exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
''')
    assert code == 0 and said.strip() == "3", said


def test_a_forked_child_makes_a_runtime_of_its_own():
    code, said = run_child(PENDING + '''
import os, sys
stream.launch_kernel(lambda: None)
child = os.fork()
if child == 0:
  assert not runtime.is_initialized()
  try: x.numpy()
  except runtime.Error as e: assert e.code == 207000
  runtime.init(devices=2)
  y = runtime.array(np.arange(10))
  with runtime.Stream() as s: s.launch_kernel(lambda v: np.negative(v, out=v), (y,))
  assert y.numpy().sum() == -45
  sys.exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
stream.synchronize()
assert x.numpy().sum() == 499500
''')
    assert code == 0 and said == "", said


def test_multiprocessing_pools_work_beside_a_runtime():
    code, said = run_child(PENDING + '''
import multiprocessing
def work(n):
  with runtime.init(devices=1):
    return int(runtime.array(np.arange(n)).numpy().sum())
with multiprocessing.get_context("fork").Pool(2) as pool:
  print(pool.map(work, [10, 20, 30, 40]))
''')
    assert code == 0 and said == "[45, 190, 435, 780]\n", said


WAITS = {
    "stream": "stream.synchronize()",
    "event": "stream.record().synchronize()",
    "everything": "runtime.stream_synchronize()",
    "device": "runtime.Device(0).synchronize()",
    "with a timeout": "stream.synchronize(timeout=1000)",
    "destroy": "stream.destroy()",
    "with block": "stream.__exit__(None, None, None)",
}


@pytest.mark.parametrize("wait", WAITS)
def test_ctrl_c_interrupts_a_wait(wait):
    program = PENDING + f'''
stream.wait(runtime.Signal())
try:
  print("waits", flush=True)
  {WAITS[wait]}
except KeyboardInterrupt:
  print("interrupted", stream.query(), x.numpy().sum(), flush=True)
'''
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "waits\n"
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=120)
    assert out == "interrupted False 499500\n" and child.returncode == 0


def test_ctrl_c_interrupts_a_wait_for_room():
    program = PENDING + '''
go = runtime.Signal()
stream = runtime.Stream(queue_depth=4)
stream.wait(go)
for _ in range(3): stream.launch_kernel(lambda: None)
try:
  print("waits", flush=True)
  while True: stream.launch_kernel(lambda: None)
except KeyboardInterrupt:
  before = stream.counters.submitted
  print("interrupted", before, flush=True)
go.set()
stream.synchronize()
print(stream.counters.completed == before)
'''
    program = program.replace("stop_bound_ms=200", "stop_bound_ms=200, submit_timeout_ms=3_600_000")
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "waits\n"
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=120)
    assert out == "interrupted 4\nTrue\n" and child.returncode == 0


def test_a_full_queue_is_told_after_its_limit():
    with runtime.init(devices=1, submit_timeout_ms=120):
        stream = runtime.Stream(queue_depth=4)
        go = runtime.Signal()
        stream.wait(go)
        with pytest.raises(runtime.Error) as caught:
            while True:
                stream.launch_kernel(print)
        assert caught.value.code == 207014 and "120 ms" in str(caught.value)
        stream.abort()
