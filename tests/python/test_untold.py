"""Failures that no wait has told of: the end of context or runtime tells the first one."""

import pytest

import runtime
from conftest import run_child


def fail():
    raise KeyError("mine")


def fails_unseen(stream):
    stream.launch_kernel(fail)
    while not stream.query():
        pass


def test_shutdown_tells_and_has_ended_all_the_same():
    runtime.init(devices=1)
    fails_unseen(runtime.Stream())
    with pytest.raises(runtime.KernelFailed) as caught:
        runtime.shutdown()
    assert isinstance(caught.value.__cause__, KeyError) and not runtime.is_initialized()
    runtime.shutdown()


def test_the_end_of_the_with_block_tells():
    with pytest.raises(runtime.KernelFailed, match="mine"):
        with runtime.init(devices=1):
            fails_unseen(runtime.Stream())
    assert not runtime.is_initialized()


def test_of_a_stream_that_is_gone_as_well(rt):
    stream = runtime.Stream()
    fails_unseen(stream)
    del stream
    with pytest.raises(runtime.KernelFailed):
        runtime.shutdown()


def test_of_streams_of_contexts_that_still_are():
    runtime.init(devices=2)
    context = runtime.Context(1)
    fails_unseen(runtime.Stream(context))
    with pytest.raises(runtime.KernelFailed):
        runtime.shutdown()
    del context


def test_an_exception_that_leaves_the_block_goes_first():
    with pytest.raises(ValueError):
        with runtime.init(devices=1):
            fails_unseen(runtime.Stream())
            raise ValueError


def test_a_context_tells_as_it_ends(rt):
    for end in (lambda c: c.destroy(), lambda c: c.__exit__(None, None, None)):
        context = runtime.Context()
        fails_unseen(runtime.Stream(context))
        with pytest.raises(runtime.KernelFailed):
            end(context)
        with pytest.raises(runtime.Error) as caught:
            context.synchronize()
        assert caught.value.code == 507007
    with pytest.raises(ValueError):
        with runtime.Context() as context:
            fails_unseen(runtime.Stream(context))
            raise ValueError


def told_by_synchronize(stream):
    with pytest.raises(runtime.Error):
        stream.synchronize()


def told_by_event(stream):
    with pytest.raises(runtime.Error):
        stream.record().synchronize()


def told_by_the_list(stream):
    assert len(stream.failures()) == 1


@pytest.mark.parametrize("tell", [told_by_synchronize, told_by_event, told_by_the_list])
def test_nothing_is_told_twice(tell):
    with runtime.init(devices=1):
        stream = runtime.Stream()
        fails_unseen(stream)
        tell(stream)


def test_what_was_dropped_is_no_failure():
    with runtime.init(devices=1, stop_bound_ms=200):
        stream = runtime.Stream()
        stream.wait(runtime.Signal())
        stream.launch_kernel(fail)


def test_what_fails_while_the_runtime_drains_is_told():
    with pytest.raises(runtime.KernelFailed):
        with runtime.init(devices=1, drain_ms=100_000):
            runtime.Stream().launch_kernel(fail)


def test_the_interpreter_tells_at_its_end():
    code, said = run_child('''
import runtime
runtime.init(devices=1)
stream = runtime.Stream()
def fail(): raise KeyError("mine")
stream.launch_kernel(fail)
while not stream.query(): pass
''')
    assert code == 0 and "KernelFailed" in said and "KeyError: 'mine'" in said, said


def test_a_refused_shutdown_changes_nothing(rt):
    codes = []

    def kernel():
        for end in (runtime.shutdown, rt.shutdown, lambda: rt.__exit__(None, None, None)):
            try:
                end()
            except runtime.Error as e:
                codes.append(e.code)

    with runtime.Stream() as stream:
        stream.launch_kernel(kernel)
        stream.callback(kernel)
        stream.synchronize()
    assert codes == [207000] * 6 and rt.is_open and runtime.is_initialized()
    assert runtime.zeros(3).numpy().sum() == 0
