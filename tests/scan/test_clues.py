from __future__ import annotations

from rocm3d.model.finding import Finding
from rocm3d.scan.clues import confirmed_findings
from rocm3d.scan.file_scan import ConditionalFinding, FileResult


def finding(path: str, severity: str = "warning", package: str | None = None, line: int = 1) -> Finding:
    return Finding(
        code="PY405", rule="a", severity=severity, path=path, line=line, column=1, message="", hint="", package=package
    )


def result_with_pending(path: str, *clues: str, severity: str = "warning", package: str | None = None) -> FileResult:
    reported = (ConditionalFinding(finding=finding(path, severity, package), clue=clue) for clue in clues)
    return FileResult(path=path, waiting=tuple(reported))


def result_with_clues(path: str, *clues: str) -> FileResult:
    return FileResult(path=path, clues=clues)


def confirmed_paths(*results: FileResult) -> list[str]:
    return [confirmed_finding.path for confirmed_finding in confirmed_findings(results)]


def test_finding_without_clue_is_dropped():
    assert confirmed_paths(result_with_pending("a.py", "x"), result_with_clues("b.py", "y")) == []
    assert confirmed_paths(result_with_clues("b.py", "x")) == []


def test_unconditional_finding_is_not_repeated():
    direct = FileResult(path="c.py", findings=(finding("c.py", package="p"),))

    assert confirmed_paths(result_with_pending("a.py", "x", package="p"), result_with_clues("b.py", "x"), direct) == []
    assert confirmed_paths(result_with_pending("a.py", "x", package="q"), result_with_clues("b.py", "x"), direct) == [
        "a.py"
    ]


def test_unless_clue_drops_finding():
    reported = FileResult(path="a.cu", waiting=(ConditionalFinding(finding=finding("a.cu"), unless="x"),))

    assert confirmed_paths(reported, result_with_clues("b.h", "x")) == []
    assert confirmed_paths(reported, result_with_clues("b.h", "y")) == ["a.cu"]


def test_finding_with_unless_and_no_clue_is_reported():
    reported = (ConditionalFinding(finding=finding("a.cu", line=n), unless="x") for n in (1, 2))

    assert confirmed_paths(FileResult(path="a.cu", waiting=tuple(reported))) == ["a.cu", "a.cu"]


def test_clue_in_another_file_confirms_finding():
    assert confirmed_paths(result_with_clues("b.py", "x"), result_with_pending("a.py", "x")) == ["a.py"]


def test_one_position_is_reported_once_for_all_clues():
    assert confirmed_paths(result_with_pending("a.py", "x", "y"), result_with_clues("b.py", "x", "y")) == ["a.py"]


def test_nearest_finding_is_reported():
    near, far = result_with_pending("net/core/load.py", "x"), result_with_pending("tools/load.py", "x")

    assert confirmed_paths(far, near, result_with_clues("net/core/conv.py", "x")) == ["net/core/load.py"]
    assert confirmed_paths(
        far,
        result_with_pending("net/models/__init__.py", "x"),
        result_with_pending("net/data.py", "x"),
        result_with_clues("net/conv/c.py", "x"),
    ) == ["net/models/__init__.py"]


def test_program_comes_before_auxiliary_files():
    auxiliary = result_with_pending("net/tests/load.py", "x", severity="note")

    assert confirmed_paths(
        auxiliary, result_with_pending("load.py", "x"), result_with_clues("net/tests/conv.py", "x")
    ) == ["load.py"]
