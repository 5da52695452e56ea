"""What `make test` says of its stages: those that fail, those beyond their budget, and the slowest tests."""

import importlib.machinery
import importlib.util
import json
import os

import pytest
from hearth_server import ROOT


@pytest.fixture
def gate(tmp_path):
    loader = importlib.machinery.SourceFileLoader("gate", str(ROOT / "scripts" / "gate"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gate", loader))
    loader.exec_module(module)
    module.GATE = tmp_path
    module.UNIT_EVENTS = tmp_path / "units.jsonl"
    return module


def test_stages_run_side_by_side_and_one_that_fails_shows_its_output(gate, capsys, tmp_path):
    # Each waits for the other.
    os.mkfifo(tmp_path / "pipe")
    stages = {
        "one": ([], ["sh", "-c", f"read word < {tmp_path}/pipe; echo '◇ Test run started.'; echo heard $word; exit 3"]),
        "other": ([], ["sh", "-c", f"echo hello > {tmp_path}/pipe; echo unseen"]),
    }
    ended = {stage.name: stage.code for stage in gate.run_stages(stages, dict(os.environ))}
    assert ended == {"one": 3, "other": 0}
    printed = capsys.readouterr().out
    assert "gate: one FAILED after" in printed and "heard hello" in printed and "gate: other passed after" in printed
    assert "unseen" not in printed and "Test run started" not in printed


def test_a_stage_begins_when_those_before_it_have_passed_and_never_when_one_failed(gate, tmp_path):
    def noting(name, code=0):
        return ["sh", "-c", f"echo {name} >> {tmp_path}/order; exit {code}"]

    stages = {"last": (["first", "second"], noting("last")), "first": ([], noting("first")), "second": (["first"], noting("second")),
              "bad": (["first"], noting("bad", 1)), "behind": (["bad", "first"], noting("behind"))}
    ended = {stage.name: stage.code for stage in gate.run_stages(stages, dict(os.environ))}
    assert ended == {"first": 0, "second": 0, "bad": 1, "last": 0}
    order = (tmp_path / "order").read_text().split()
    assert order[0] == "first" and order.index("second") < order.index("last") and sorted(order) == sorted(ended)


@pytest.mark.parametrize("said, code", [
    ("", 1), ("Build complete!", 1), ("✔ Test run with 0 tests in 0 suites passed after 0.001 seconds.", 1), ("no tests ran in 0.02s", 1),
    ("✔ Test run with 1 test in 1 suite passed after 0.001 seconds.", 0), ("2 passed in 0.10s", 0),
])
def test_a_runner_that_ran_no_test_fails(gate, said, code):
    [stage] = gate.run_stages({"units": ([], ["echo", said])}, dict(os.environ))
    assert stage.code == code


def test_a_stage_fails_when_it_takes_more_than_half_beyond_its_budget(gate, capsys):
    times = [("set-up", 900, None), ("build", 601, 1100), ("units", 599, 80)]
    budgets = {"build": 400, "units": 400}
    assert gate.print_table(times, budgets, 1.0) == ["build"]
    assert "slower" not in capsys.readouterr().out
    assert gate.print_table(times, budgets, 1.6) == []
    assert "1.6 times slower" in capsys.readouterr().out


def test_a_disk_without_room_is_refused_before_anything_runs(gate, capsys, monkeypatch):
    monkeypatch.setattr(gate, "free_gigabytes", lambda: gate.LEAST_FREE_GB - 1)
    monkeypatch.setattr(gate, "run_stages", None)
    monkeypatch.setattr(gate.sys, "argv", ["gate"])
    assert gate.main() == 1
    assert "and the gate needs 20 GB: make room" in capsys.readouterr().out


def test_each_stage_has_a_budget(gate):
    assert set(gate.read_budgets()) == set(gate.STAGES) | {"total", "pace"}


def ended_stage(gate, name, code, lines):
    stage = gate.Stage(name, ["sh", "-c", f"exit {code}"], dict(os.environ))
    stage.process.wait()
    stage.code = code
    stage.path.write_text("\n".join(lines))
    return stage


def event(kind, test, case, seconds):
    payload = {"kind": kind, "testID": f"{test}/File.swift:1:6", "_testCase": {"id": case}, "instant": {"absolute": seconds}}
    return json.dumps({"kind": "event", "payload": payload}, ensure_ascii=False) + "\n"


def test_the_slowest_tests_and_the_summaries_are_read_from_both_runners(gate):
    lines = [
        '✔ Test "a name is taken" passed after 0.323 seconds.',
        "✔ Test run with 3 tests in 1 suite passed after 9.100 seconds.",
        "15.12s call     test_bodies.py::test_a_large_write[gzip-durable]",
        "1 failed, 5817 passed, 2 warnings in 475.76s (0:07:55)",
        "2 passed in 0.10s",
    ]
    # Cases of one test run side by side; a separator of lines within a text ends no event.
    gate.UNIT_EVENTS.write_text(
        event("testCaseStarted", "Names.rows(of:)", "a\u2028b", 1) + event("testCaseStarted", "Names.rows(of:)", "c", 2)
        + event("testCaseEnded", "Names.rows(of:)", "a\u2028b", 5) + event("testCaseEnded", "Names.rows(of:)", "c", 5.5)
        + event("testCaseStarted", "Names.taken()", "", 1) + event("testCaseEnded", "Names.taken()", "", 1.25)
        + event("testCaseStarted", "Names.neverEnds()", "", 1))
    stage = ended_stage(gate, "units", 0, lines)
    assert gate.slowest([stage]) == [
        (15.12, "test_bodies.py::test_a_large_write[gzip-durable]"), (7.5, "Names.rows(of:)"), (0.25, "Names.taken()")]
    assert [line for line in lines if gate.SUMMARY.match(line)] == [lines[1], lines[3], lines[4]]


def test_the_end_names_the_tests_that_failed_and_no_others(gate):
    units = ['✔ Test "a name is taken" passed after 0.323 seconds.',
             '✘ Test "rows" recorded an issue with 1 argument count → 7 at RowTests.swift:15:25: ' + "x" * 1_000,
             '✘ Test "rows" with 40 test cases failed after 7.500 seconds with 1 issue.']
    clients = ["FAILED test_bodies.py::test_a_write - AssertionError: assert 1 == 2", "ERROR test_wire.py::test_a_put", "assert 1 == 2"]
    stages = [ended_stage(gate, "units", 1, units), ended_stage(gate, "clients", 1, clients),
              ended_stage(gate, "demo", 0, ["FAILED test_x.py::test_y"])]
    assert gate.failures(stages) == [units[1][:300], *clients[:2]]


def issue(test, is_known=False):
    payload = {"kind": "issueRecorded", "testID": f"{test}/File.swift:1:6", "issue": {"isKnown": is_known}}
    return json.dumps({"kind": "event", "payload": payload}) + "\n"


def runner_of_units(gate, monkeypatch, tmp_path, script):
    """Stands for the runner of unit tests, and notes what it is asked for."""
    monkeypatch.setattr(gate, "PROGRAMS", tmp_path)
    runner = tmp_path / "hearthPackageTests.xctest"
    runner.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/asked\n{script}\n')
    runner.chmod(0o755)


SUMMARY_OF_UNITS = "✘ Test run with 3 tests in 1 suite failed after 9.100 seconds with 1 issue."


@pytest.mark.parametrize("code", [0, 1])
def test_a_few_tests_that_failed_run_once_more_alone(gate, monkeypatch, tmp_path, code):
    runner_of_units(gate, monkeypatch, tmp_path, f"exit {code}")
    gate.UNIT_EVENTS.write_text(
        issue("Net.Room/full(_:)") * 2 + issue("Net.Room/expected()", is_known=True) + issue("Data.Row/empty()"))
    names, again = gate.repeat(ended_stage(gate, "units", 1, [SUMMARY_OF_UNITS]), dict(os.environ))
    assert names == ["Data.Row/empty()", "Net.Room/full(_:)"]
    assert again.code == code
    assert (tmp_path / "asked").read_text().splitlines()[-1] == r"^Data\.Row/empty\(\)|^Net\.Room/full\(_:\)"


def test_many_failures_a_crash_and_a_failure_without_a_name_stay_as_they_are(gate, monkeypatch, tmp_path):
    runner_of_units(gate, monkeypatch, tmp_path, "exit 0")
    events = [issue(f"Net.Room/number{number}()") for number in range(gate.MOST_UNSTABLE + 1)]
    for happened, lines in [(events, [SUMMARY_OF_UNITS]), (events[:1], ["Fatal error: index out of range"]), ([], [SUMMARY_OF_UNITS])]:
        gate.UNIT_EVENTS.write_text("".join(happened))
        assert gate.repeat(ended_stage(gate, "units", 1, lines), dict(os.environ)) is None
    assert not (tmp_path / "asked").exists()
    lines = ["FAILED test_bodies.py::test_a_write[gzip] - AssertionError", "ERROR test_wire.py::test_a_put", "FAILED tests, 3 of them",
             "2 failed, 5817 passed in 475.76s (0:07:55)"]
    assert gate.failed_clients(ended_stage(gate, "clients", 1, lines)) == ["test_bodies.py::test_a_write[gzip]", "test_wire.py::test_a_put"]
