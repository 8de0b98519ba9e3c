"""runtime.testing: simulated runs, searches and faults for Python code."""

import numpy as np
import pytest

import runtime
from runtime import testing

SMALL = {"devices": [{"memory_bytes": 1 << 28}]}


def test_a_run_is_simulated_in_virtual_time():
    def body(stage):
        stream = runtime.Stream()
        x = runtime.array(np.arange(4.0))
        begun = stage.elapsed
        stream.launch_kernel(lambda values: np.negative(values, out=values), (x,), name="long")
        assert not stream.query()
        stream.synchronize()
        assert stage.elapsed - begun >= 3600
        assert x.numpy().tolist() == [0, -1, -2, -3]
        stage.pass_time(10)

    report = testing.simulate(body, options=SMALL, costs={"long": 3600 * 10**9}, keep_trace=True)
    assert report.hang is None and report.elapsed >= 3610 and report.trace and report.steps > 0
    assert report.violations == []


def test_equal_seeds_give_equal_runs():
    def body(stage):
        streams = [runtime.Stream() for _ in range(3)]
        for i, stream in enumerate(streams):
            stream.launch_kernel(lambda: None)
            stream.callback(lambda: None)
        runtime.stream_synchronize()

    def hash_of(seed):
        return testing.simulate(body, options=SMALL, seed=seed, order="explore",
                                ends="any_order").order_hash

    assert hash_of(3) == hash_of(3)
    assert len({hash_of(seed) for seed in range(10)}) > 1


def test_a_hang_is_told_at_once_and_names_who_waits():
    def body(stage):
        stream = runtime.Stream()
        stream.wait(runtime.Signal())
        stream.synchronize()

    report = testing.simulate(body, options=SMALL)
    assert "main" in report.hang


def test_what_a_body_raises_passes_through():
    def body(stage):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        testing.simulate(body, options=SMALL)


def test_the_stage_and_its_runtime_end_with_the_body():
    kept = []

    def body(stage):
        kept.extend([stage, runtime.Stream(), runtime.zeros(4), runtime.Device(0), runtime.Event()])
        kept[4].record(kept[1])
        kept.append(memoryview(kept[2]))

    testing.simulate(body, options=SMALL)
    stage, stream, x, device, event, view = kept
    for call in (lambda: stage.elapsed, stream.synchronize, x.numpy, device.counters,
                 lambda: event.record(stream), runtime.get_device_count):
        with pytest.raises(runtime.Error):
            call()
    assert view[0] == 0
    kept.clear()
    del stage, stream, x, device, event, view


def test_a_live_runtime_is_as_before_after_a_simulated_run(rt):
    x = runtime.zeros(4)
    testing.simulate(lambda stage: runtime.zeros(8), options=SMALL)
    assert runtime.get_device_count() == 2 and x.numpy().tolist() == [0] * 4


def test_clients_take_turns():
    def body(stage):
        order = []

        def client(number):
            for _ in range(3):
                stream = runtime.Stream()
                stream.launch_kernel(order.append, (number,))
                stream.synchronize()

        clients = [stage.start_client(f"client {i}", client, i) for i in range(3)]
        for each in clients:
            each.join()
        assert sorted(order) == [0] * 3 + [1] * 3 + [2] * 3
        stage.wait_until(lambda: len(order) == 9)

    assert testing.simulate(body, options=SMALL).hang is None


def test_what_a_client_raises_is_raised_where_it_is_joined():
    def fails():
        raise OSError("client")

    def body(stage):
        with pytest.raises(OSError, match="client"):
            stage.start_client("second", fails).join()

    testing.simulate(body, options=SMALL)


def racy(stage):
    """Writes and reads on two streams, with no event between them."""
    x = runtime.zeros(1, np.int32)
    seen = []
    writer, reader = runtime.Stream(), runtime.Stream()
    writer.launch_kernel(lambda values: values.fill(42), (x,), name="write")
    reader.launch_kernel(lambda values: seen.append(int(values[0])), (x.read_only(),), name="read")
    runtime.stream_synchronize()
    assert seen == [42], "the reader came first"


def test_explore_finds_a_missing_event_and_replay_shows_it_again():
    found = testing.explore(racy, runs=200, options=SMALL)
    failure = found.failure
    assert failure is not None and "the reader came first" in failure.what
    assert failure.reproduced and str(failure.seed) in str(found)
    assert "the reader came first" in testing.replay(racy, failure.seed, failure.script,
                                                     options=SMALL)


def test_explore_passes_what_is_right():
    def body(stage):
        x = runtime.zeros(1, np.int32)
        seen = []
        writer, reader = runtime.Stream(), runtime.Stream()
        writer.launch_kernel(lambda values: values.fill(42), (x,))
        reader.wait(writer.record())
        reader.launch_kernel(lambda values: seen.append(int(values[0])), (x,))
        reader.synchronize()
        stage.observe("seen", seen)
        assert seen == [42]

    found = testing.explore(body, runs=50, options=SMALL)
    assert found.failure is None and found.runs == 50 and found.distinct_orders > 1


PLAN = {"name": "bad engine", "entries": [
    {"name": "refused", "pick": {"point": "execute", "engine": "compute", "ordinal": 2},
     "action": {"kind": "fail_at_execution"}}]}


def test_recovery_code_is_tested_under_a_plan():
    def careful(stage):
        x = runtime.zeros(1, np.int32)
        stream = runtime.Stream()
        done, failed = 0, []
        while done < 5:
            try:
                stream.launch_kernel(lambda values: values.__iadd__(1), (x,))
                stream.synchronize()
                done += 1
            except runtime.Error as error:
                failed.append(error)
        assert x.numpy()[0] == 5
        assert [error.origin["plan_entry"] for error in failed] == ["refused"]

    report = testing.simulate(careful, options=SMALL, plan=PLAN)
    assert report.faults["activations"] and report.hang is None

    def careless(stage):
        stream = runtime.Stream()
        for _ in range(5):
            stream.launch_kernel(lambda: None)
        stream.synchronize()

    with pytest.raises(runtime.Error):
        testing.simulate(careless, options=SMALL, plan=PLAN)
    found = testing.explore(careless, runs=5, options=SMALL, plan=PLAN)
    assert found.failure is not None


def test_sweep_tries_every_single_fault():
    def body(stage):
        try:
            x = runtime.zeros(1, np.int32)
            stream = runtime.Stream()
            stream.launch_kernel(lambda values: values.fill(1), (x,))
            stream.synchronize()
            assert x.numpy()[0] == 1
        except runtime.Error:
            pass

    found = testing.sweep(body, stride=17, options=SMALL)
    assert found.faults > 10, str(found)
    told = [f for f in found.findings if not f.fault.startswith(("corrupt", "never_complete"))]
    assert told == [], str(found)


def test_bad_settings_are_refused():
    def body(stage):
        pass

    for bad in ({"plan": {"entries": [{"pick": {"point": "nowhere"}}]}}, {"options": {"devices": -1}},
                {"order": "best"}, {"ends": "never"}, {"costs": {"x": -1}}):
        with pytest.raises(runtime.Error):
            testing.simulate(body, **bad)
    for bad in ({"no_such": 1}, ):
        with pytest.raises(TypeError):
            testing.simulate(body, **bad)
    with pytest.raises(TypeError):
        testing.simulate(3)
    with pytest.raises(runtime.Error):
        testing.explore(body, runs=0)


def test_a_hang_is_an_exception_where_one_wants_it():
    def hangs(stage):
        stream = runtime.Stream()
        stream.wait(runtime.Signal())
        stream.synchronize()

    report = testing.simulate(hangs)
    with pytest.raises(testing.Hang) as caught:
        report.expect_end()
    assert caught.value.report is report and str(caught.value) == report.hang and report.hang
    ended = testing.simulate(lambda stage: None)
    assert ended.expect_end() is ended
    ended.violations = ["one", "two"]
    with pytest.raises(testing.BrokenRule, match="one\ntwo"):
        ended.expect_end()
