from __future__ import annotations

import pytest

from rocm3d.scan.file import is_wanted, look_at, look_at_paths
from rocm3d.scan.selection import Selection
from rocm3d.syntax import bounded_parse

INCLUDE = b"#include <device_launch_parameters.h>"


def rules(result):
    return [(finding.rule, finding.line) for finding in result.findings]


@pytest.mark.parametrize("path", ["a.png", "LICENSE", "data.bin", "weights.pt"])
def test_other_files_are_not_read(path):
    assert not is_wanted(path)


@pytest.mark.parametrize("path", ["a.py", "a.cu", "b/c.CUH", "requirements.txt", "pyproject.toml"])
def test_sources_and_manifests_are_read(path):
    assert is_wanted(path)


def test_nul_bytes_are_no_source(knowledge):
    result = look_at("a.cu", INCLUDE + b"\n\0", knowledge, Selection())

    assert result.findings == ()
    assert "NUL" in result.skipped[0].reason


def test_what_takes_too_long_to_parse_is_told(knowledge, monkeypatch):
    monkeypatch.setattr(bounded_parse, "SECONDS", 0.1)
    monkeypatch.setattr(bounded_parse, "SECONDS_PER_BYTE", 0.0)
    result = look_at("a.py", b"import pynvml\nx=" + b"a?" * 20_000, knowledge, Selection())

    (trouble,) = result.skipped
    assert trouble.reason == "exceeds the time or memory limit of the parser, so its syntax was not scanned"


@pytest.mark.parametrize("word", ["missing_header", "CU201", "spaced_launch, cu201"])
def test_a_line_that_says_so_is_ignored_and_counted(knowledge, word):
    result = look_at("a.cu", INCLUDE + b"  // rocm3d: ignore[" + word.encode() + b"]\n", knowledge, Selection())

    assert ([], 1) == (rules(result), result.ignored)


def test_an_ignore_for_another_rule_or_line_changes_nothing(knowledge):
    other = INCLUDE + b"  // rocm3d: ignore[spaced_launch]\n"
    above = b"// rocm3d: ignore[missing_header]\n" + INCLUDE + b"\n"

    assert [("missing_header", 1)] == rules(look_at("a.cu", other, knowledge, Selection()))
    assert [("missing_header", 2)] == rules(look_at("a.cu", above, knowledge, Selection()))


@pytest.mark.parametrize("path", ["tests/a.cu", "src/Docs/a.cu", "examples/x/a.cu", "a_test.cu", "test_a.cu"])
def test_beside_the_program_everything_is_a_note(knowledge, path):
    (found,) = look_at(path, INCLUDE, knowledge, Selection()).findings

    assert ("missing_header", "note") == (found.rule, found.severity)


def test_names_alone_are_looked_at_without_bytes(knowledge):
    result = look_at_paths(["a.cu", "b.py"], knowledge, Selection())

    assert result.findings == ()
