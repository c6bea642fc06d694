from __future__ import annotations

from rocm3d.model.finding import Finding
from rocm3d.scan.clues import confirmed
from rocm3d.scan.file import FileResult, Told


def finding(path: str, severity: str = "warning", package: str | None = None, line: int = 1) -> Finding:
    return Finding(
        code="PY405", rule="a", severity=severity, path=path, line=line, column=1, message="", hint="", package=package
    )


def waits(path: str, *clues: str, severity: str = "warning", package: str | None = None) -> FileResult:
    told = (Told(finding=finding(path, severity, package), clue=clue) for clue in clues)
    return FileResult(path=path, waiting=tuple(told))


def gives(path: str, *clues: str) -> FileResult:
    return FileResult(path=path, clues=clues)


def paths(*results: FileResult) -> list[str]:
    return [found.path for found in confirmed(results)]


def test_nothing_waits_forever():
    assert paths(waits("a.py", "x"), gives("b.py", "y")) == []
    assert paths(gives("b.py", "x")) == []


def test_what_a_file_told_by_itself_is_not_told_again():
    direct = FileResult(path="c.py", findings=(finding("c.py", package="p"),))

    assert paths(waits("a.py", "x", package="p"), gives("b.py", "x"), direct) == []
    assert paths(waits("a.py", "x", package="q"), gives("b.py", "x"), direct) == ["a.py"]


def test_another_file_speaks_against_it():
    told = FileResult(path="a.cu", waiting=(Told(finding=finding("a.cu"), unless="x"),))

    assert paths(told, gives("b.h", "x")) == []
    assert paths(told, gives("b.h", "y")) == ["a.cu"]


def test_what_nobody_speaks_against_is_told_wherever_it_stands():
    told = (Told(finding=finding("a.cu", line=n), unless="x") for n in (1, 2))

    assert paths(FileResult(path="a.cu", waiting=tuple(told))) == ["a.cu", "a.cu"]


def test_another_file_confirms():
    assert paths(gives("b.py", "x"), waits("a.py", "x")) == ["a.py"]


def test_one_place_is_told_once_for_all_clues():
    assert paths(waits("a.py", "x", "y"), gives("b.py", "x", "y")) == ["a.py"]


def test_the_nearest_is_chosen():
    near, far = waits("net/core/load.py", "x"), waits("tools/load.py", "x")

    assert paths(far, near, gives("net/core/conv.py", "x")) == ["net/core/load.py"]
    assert paths(far, waits("net/models/__init__.py", "x"), waits("net/data.py", "x"), gives("net/conv/c.py", "x")) == [
        "net/models/__init__.py"
    ]


def test_the_program_comes_before_what_stands_beside_it():
    beside = waits("net/tests/load.py", "x", severity="note")

    assert paths(beside, waits("load.py", "x"), gives("net/tests/conv.py", "x")) == ["load.py"]
