from __future__ import annotations

import pytest

from rocm3d.scan.file_scan import is_scanned, scan_file, scan_paths
from rocm3d.scan.selection import Selection
from rocm3d.syntax import unit

INCLUDE = b"#include <device_launch_parameters.h>"


def rules_of(result):
    return [(finding.rule, finding.line) for finding in result.findings]


@pytest.mark.parametrize("path", ["a.png", "LICENSE", "data.bin", "weights.pt"])
def test_other_files_are_not_scanned(path):
    assert not is_scanned(path)


@pytest.mark.parametrize("path", ["a.py", "a.cu", "b/c.CUH", "requirements.txt", "pyproject.toml"])
def test_sources_and_manifests_are_scanned(path):
    assert is_scanned(path)


def test_nul_bytes_are_skipped(knowledge):
    result = scan_file("a.cu", INCLUDE + b"\n\0", knowledge, Selection())

    assert result.findings == ()
    assert "NUL" in result.skipped[0].reason


def test_parse_over_the_limit_is_reported(knowledge, monkeypatch):
    monkeypatch.setattr(unit, "SECONDS", 0.1)
    monkeypatch.setattr(unit, "SECONDS_PER_BYTE", 0.0)
    result = scan_file("a.py", b"import pynvml\nx=" + b"a?" * 20_000, knowledge, Selection())

    (trouble,) = result.skipped
    assert trouble.reason == "exceeds the time or memory limit of the parser, so its syntax was not scanned"


@pytest.mark.parametrize("rule", ["missing_header", "CU201", "spaced_launch, cu201"])
def test_ignore_comment_is_applied_and_counted(knowledge, rule):
    result = scan_file("a.cu", INCLUDE + b"  // rocm3d: ignore[" + rule.encode() + b"]\n", knowledge, Selection())

    assert ([], 1) == (rules_of(result), result.ignored)


def test_an_ignore_for_another_rule_or_line_changes_nothing(knowledge):
    other = INCLUDE + b"  // rocm3d: ignore[spaced_launch]\n"
    above = b"// rocm3d: ignore[missing_header]\n" + INCLUDE + b"\n"

    assert [("missing_header", 1)] == rules_of(scan_file("a.cu", other, knowledge, Selection()))
    assert [("missing_header", 2)] == rules_of(scan_file("a.cu", above, knowledge, Selection()))


@pytest.mark.parametrize("path", ["tests/a.cu", "src/Docs/a.cu", "examples/x/a.cu", "a_test.cu", "test_a.cu"])
def test_findings_in_auxiliary_files_are_notes(knowledge, path):
    (result,) = scan_file(path, INCLUDE, knowledge, Selection()).findings

    assert ("missing_header", "note") == (result.rule, result.severity)


def test_file_names_are_scanned_without_content(knowledge):
    result = scan_paths(["a.cu", "b.py"], knowledge, Selection())

    assert result.findings == ()
