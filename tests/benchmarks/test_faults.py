from __future__ import annotations

import json
from pathlib import Path

import fault_map
import faults
import pytest
from fault_copy import PytestFailure
from fault_map import LineMap, build_map, lines_to_watch
from fault_operators import Fault, SourceEdit, fault_of_edit, possible_edits

FAULT = Fault("src/rocm3d/a.py", 3, "return 1", 0, "integer", 7, "return 2")


def result(verdict: str, fault: str = "f", test: str | None = None) -> faults.FaultResult:
    return faults.FaultResult(fault, verdict, test)


@pytest.fixture
def checkout(tmp_path):
    """A module with a function, a constant that it uses, and its tests."""
    for name, text in {
        "src/rocm3d/a.py": "LIMIT = 3\n\n\ndef f(x=1):\n    return x + LIMIT\n",
        "src/rocm3d/b.py": "from rocm3d.a import LIMIT\n\n\ndef g():\n    return LIMIT\n",
        "tests/test_a.py": "",
        "tests/test_b.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def line_map(checkout):
    seconds = {"tests/test_b.py::b": 0.1, "tests/test_a.py::a": 0.2, "tests/test_a.py::other": 0.3}
    lines = {"src/rocm3d/a.py": {"1": [], "4": [], "5": [0, 1]}, "src/rocm3d/b.py": {"5": [0]}}
    return LineMap(checkout, seconds, lines)


# Refusals.


@pytest.mark.parametrize("read", [faults.read_faults, faults.read_results])
def test_missing_file_is_named_with_the_command_that_makes_it(read, tmp_path):
    with pytest.raises(SystemExit, match=r"none\.json does not exist\. Create it: faults\.py"):
        read(tmp_path / "none.json")


def test_missing_map_is_named(tmp_path):
    with pytest.raises(SystemExit, match=r"Create it: faults\.py map"):
        LineMap.read(tmp_path, tmp_path / "map.json")


@pytest.mark.parametrize("stored", [{"seconds": {}, "lines": {}}, {"seconds": {"t": 1}, "lines": {}}])
def test_an_empty_map_is_refused(stored, tmp_path):
    (tmp_path / "map.json").write_text(json.dumps(stored))

    with pytest.raises(SystemExit, match="maps no line to a test"):
        LineMap.read(tmp_path, tmp_path / "map.json")


def test_a_folder_without_sources_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="has no src/rocm3d"):
        faults.choose_faults(tmp_path, 1, 1)


# The choice.


def test_a_seed_gives_the_same_faults_twice(checkout):
    chosen = faults.choose_faults(checkout, 4, 5)

    assert chosen == faults.choose_faults(checkout, 4, 5)
    assert len({fault.line for fault in chosen if fault.path.endswith("a.py")}) > 1


def test_fewer_faults_are_the_first_of_more(checkout):
    assert faults.choose_faults(checkout, 4, 5)[:2] == faults.choose_faults(checkout, 2, 5)


# Tests for a fault.


def edit_at(checkout: Path, operator: str, line: int) -> SourceEdit:
    source = (checkout / "src/rocm3d/a.py").read_bytes()
    return next(edit for edit in possible_edits(source) if (edit.operator, edit.line) == (operator, line))


@pytest.mark.parametrize(("operator", "line"), [("plus/minus", 5), ("default argument", 4), ("integer", 1)])
def test_the_tests_of_the_module_come_first_and_then_others_that_run_the_line(operator, line, checkout, line_map):
    selected = line_map.select_tests("src/rocm3d/a.py", edit_at(checkout, operator, line))

    assert selected.tests == ("tests/test_a.py::a", "tests/test_b.py::b", "tests/test_a.py::other")
    assert selected.runs_line
    assert not selected.capped


def test_a_line_that_no_test_runs_has_only_the_tests_of_its_module(checkout, line_map):
    uncovered = LineMap(checkout, line_map.seconds, {"src/rocm3d/b.py": {"5": [0]}})

    selected = uncovered.select_tests("src/rocm3d/a.py", edit_at(checkout, "plus/minus", 5))

    assert selected.tests == ("tests/test_a.py::a", "tests/test_a.py::other")
    assert not selected.runs_line


def test_tests_above_the_limit_are_skipped_and_reported(checkout, line_map, monkeypatch):
    monkeypatch.setattr(fault_map, "MAX_OTHER_TESTS", 0)

    selected = line_map.select_tests("src/rocm3d/a.py", edit_at(checkout, "plus/minus", 5))

    assert selected.tests == ("tests/test_a.py::a", "tests/test_a.py::other")
    assert selected.capped


def test_a_first_stage_is_short(line_map, monkeypatch):
    monkeypatch.setattr(fault_map, "MAX_FIRST_SECONDS", 0.35)

    assert line_map.split_stages(line_map.names) == (line_map.names[:2], line_map.names[2:])


def test_the_aspect_of_a_module_belongs_to_it(checkout, line_map):
    names = [*line_map.seconds, "tests/test_a_long.py::x", "tests/whole/test_a.py::y"]

    by_module = LineMap(checkout, dict.fromkeys(names, 1.0), {}).tests_by_module

    assert by_module == {"src/rocm3d/a.py": [1, 2, 3], "src/rocm3d/b.py": [0], "": [4]}


def test_records_of_several_processes_are_merged(checkout, tmp_path):
    hits, path = tmp_path / "hits", "src/rocm3d/a.py"
    hits.mkdir()
    slow, quick = "tests/test_b.py::slow", "tests/test_b.py::quick"
    (hits / "1").write_text(f"7\t\n9\t{slow}\n")
    (hits / "2").write_text(f"9\t{quick}\n9\ttests/test_b.py::without_a_report\n")

    merged = build_map(checkout, {path: {1: 7, 4: 8, 5: 9}}, hits, {slow: 2.0, quick: 1.0})
    merged.write(tmp_path / "map.json")

    assert merged.names == [quick, slow]
    assert merged.lines == {path: {"1": [], "5": [0, 1]}}
    assert LineMap.read(checkout, tmp_path / "map.json") == merged


def test_what_runs_at_import_is_watched_where_it_is_used(checkout):
    chosen = fault_of_edit("src/rocm3d/a.py", b"LIMIT = 3\n", possible_edits(b"LIMIT = 3\n")[0])

    assert lines_to_watch(checkout, [chosen]) == {"src/rocm3d/a.py": {1, 5}, "src/rocm3d/b.py": {5}}


# Runs and their comparison.


class FakeSearch:
    def __init__(self) -> None:
        self.evaluated: list[str] = []

    def evaluate(self, fault: Fault) -> faults.FaultResult:
        self.evaluated.append(fault.key)
        return result(faults.CAUGHT, fault.key)


def test_interrupted_run_resumes(tmp_path):
    chosen = [Fault(f"src/rocm3d/{name}.py", 1, "x = 1", 0, "integer", 4, "x = 2") for name in "abc"]
    results_file, search = tmp_path / "results.jsonl", FakeSearch()
    faults.evaluate_all([search], faults.remaining_faults(results_file, chosen[:1]), results_file)
    with results_file.open("a") as stream:
        stream.write('{"fault": "cut sho')

    faults.evaluate_all([search], faults.remaining_faults(results_file, chosen), results_file)

    assert search.evaluated == [fault.key for fault in chosen]
    assert list(faults.read_results(results_file)) == search.evaluated


class FakeCopy:
    """Tests that fail with the fault, and tests that fail without it, are set in advance."""

    def __init__(self, root: Path, with_fault: set[str], without: set[str]) -> None:
        self.root, self.failing, self.without = root, with_fault, without
        self.runs: list[list[str]] = []
        self.is_faulty = False

    def apply_fault(self, path: str, edit: SourceEdit):
        self.is_faulty = True
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self.is_faulty = False

    def make(self) -> None:
        pass

    def run_tests(self, tests: list[str], expected_seconds: float):
        failing = self.failing if self.is_faulty else self.without
        self.runs.append(list(tests))
        return next((PytestFailure(test) for test in tests if test in failing), None)


@pytest.fixture
def evaluate(checkout, line_map):
    fault = fault_of_edit(
        "src/rocm3d/a.py", (checkout / "src/rocm3d/a.py").read_bytes(), edit_at(checkout, "plus/minus", 5)
    )

    def call(with_fault: set[str], without: set[str] = frozenset(), hint: str | None = None):
        copy = FakeCopy(checkout, with_fault, without)
        search = faults.FaultSearch(copy, line_map, {fault.key: hint} if hint else {})
        return search.evaluate(fault), copy.runs

    return call


def test_a_fault_without_a_failure_is_not_caught(evaluate):
    outcome, runs = evaluate(set())

    assert (outcome.verdict, outcome.test, outcome.tests) == (faults.NOT_CAUGHT, None, 3)
    assert runs == [["tests/test_a.py::a", "tests/test_b.py::b", "tests/test_a.py::other"]]


def test_a_test_that_fails_without_the_fault_catches_nothing(evaluate):
    outcome, _ = evaluate({"tests/test_a.py::a"}, {"tests/test_a.py::a"})

    assert outcome.verdict == faults.NOT_CAUGHT


def test_the_first_reliable_failure_catches(evaluate):
    outcome, _ = evaluate({"tests/test_a.py::a", "tests/test_b.py::b"}, {"tests/test_a.py::a"})

    assert (outcome.verdict, outcome.test, outcome.detail) == (faults.CAUGHT, "tests/test_b.py::b", "test")


def test_the_test_that_caught_before_is_tried_alone_first(evaluate):
    outcome, runs = evaluate({"tests/test_a.py::other"}, hint="tests/test_a.py::other")

    assert outcome.test == "tests/test_a.py::other"
    assert runs == [["tests/test_a.py::other"]] * 2


def test_removed_test_is_no_hint(evaluate):
    assert evaluate({"tests/test_a.py::a"}, hint="tests/test_a.py::renamed")[0].verdict == faults.CAUGHT


def test_a_fault_of_another_version_is_gone(checkout, line_map):
    search = faults.FaultSearch(FakeCopy(checkout, set(), set()), line_map, {})

    assert search.evaluate(FAULT).verdict == faults.LINE_GONE


@pytest.mark.parametrize(
    ("before", "after", "nothing_lost", "line"),
    [
        (faults.CAUGHT, faults.CAUGHT, True, "1 caught"),
        (faults.CAUGHT, faults.NOT_CAUGHT, False, "Caught only before: f"),
        (faults.CAUGHT, faults.NO_TEST, False, "Caught only before: f"),
        (faults.CAUGHT, faults.LINE_GONE, True, "Line is gone: f"),
        (faults.NOT_CAUGHT, faults.CAUGHT, True, "1 not caught"),
        (faults.NOT_CAUGHT, faults.NOT_CAUGHT, True, "1 not caught"),
    ],
)
def test_compare_detects_faults_no_longer_caught(before, after, nothing_lost, line, tmp_path, capsys):
    for name, verdict in (("a", before), ("b", after)):
        (tmp_path / name).write_text(json.dumps({"fault": "f", "verdict": verdict}) + "\n")

    assert (0 if nothing_lost else 1) == faults.main(["compare", str(tmp_path / "a"), str(tmp_path / "b")])
    assert line in capsys.readouterr().out


def test_unfinished_run_is_not_equal():
    report, nothing_lost = faults.compare_results({"f": result(faults.CAUGHT)}, {})

    assert not nothing_lost
    assert "Not run after: f" in report
