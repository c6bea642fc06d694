"""A rule in a user's own folder: found, explained, in SARIF, fixed and undone, without a line of Python."""

from __future__ import annotations

import json

import pytest

RULE = """code = "CU990"
rule = "vendor_header"
severity = "error"
message = "<{header}>: {why}"
hint = "guard the include"
help = "Only the vendor's CUDA SDK has the header."
family = "native-op"
since = "0.1.0"
checked = 2026-11-15
confidence = "inferred"
sources = [{ where = "the header's own documentation" }]

[matcher]
kind = "cuda_syntax"
parameters.query = "(preproc_include path: (_) @header (#term? @header)) @match"

[terms]
"vendor_sdk.h" = "only in the CUDA SDK of our vendor"

[fix]
id = "vendor-header-guarded"
title = "Leave the vendor's header out of the ROCm build"
rewrite = "guard_include"
parameters = { headers = ["vendor_sdk.h"] }
safety = "safe"
why = "Nothing on ROCm uses it."
changes_for_user = "Nothing on CUDA."
since = "0.1.0"
checked = 2026-11-15
confidence = "inferred"
sources = [{ where = "the header's own documentation" }]
"""
BEFORE = "#include <vendor_sdk.h>\nint a;\n"
AFTER = "#if !defined(USE_ROCM) && !defined(__HIP_PLATFORM_AMD__)\n#include <vendor_sdk.h>\n#endif\nint a;\n"


@pytest.fixture
def overlay(tmp_path):
    folder = tmp_path / "mine"
    cases = folder / "rules" / "cuda" / "vendor_header" / "cases"
    cases.mkdir(parents=True)
    (cases.parent / "rule.toml").write_text(RULE)
    for name, text in (("before", BEFORE), ("after", AFTER), ("untouched", "#include <other.h>\n")):
        (cases / f"{name}.cu").write_text(text)
    header = "==== a.cu 1:1\n==== 1:1 <vendor_sdk.h>: only in the CUDA SDK of our vendor\n"
    (cases / "found.txt").write_text(header + BEFORE)
    (cases / "silent.txt").write_text("==== a.cu\n#include <other.h>\n")
    return folder


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "a.cu").write_text(BEFORE)
    return folder


def test_without_the_overlay_nothing_is_found(rocm3d, repository):
    assert json.loads(rocm3d("scan", repository, "--format", "json").out)["findings"] == []


def test_a_rule_whose_case_fails_is_a_problem(rocm3d, overlay):
    (overlay / "rules" / "cuda" / "vendor_header" / "cases" / "after.cu").write_text("int other;\n")

    ended = rocm3d("kb", "check", "--knowledge", overlay)

    assert ended.code == 1
    assert "vendor_header/rule.toml: before: the output of guard_include differs from the example" in ended.out


def test_a_rule_that_does_not_find_its_case_is_a_problem(rocm3d, overlay):
    (overlay / "rules" / "cuda" / "vendor_header" / "cases" / "found.txt").write_text("==== a.cu 2:1\n" + BEFORE)

    ended = rocm3d("kb", "check", "--knowledge", overlay)

    assert ended.code == 1
    assert "cases: found.txt:1: finds ['a.cu 1:1 error'] instead of ['a.cu 2:1 error']" in ended.out


def test_a_case_without_a_header_is_refused(rocm3d, overlay):
    (overlay / "rules" / "cuda" / "vendor_header" / "cases" / "silent.txt").write_text("int a;\n")

    ended = rocm3d("kb", "check", "--knowledge", overlay)

    assert ended.code == 2
    assert "silent.txt:1: source code without a header" in ended.err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(preproc_include", "(preproc_includes", "cuda has no node type 'preproc_includes'"),
        ("(#term? @header)", "(#no-such? @header)", "unknown predicate #no-such?"),
        ("(#term? @header)", r"(#match? @header \"(\")", "missing ), unterminated subpattern at position 0"),
        ("<{header}>: {why}", "<{headers}>", "'headers'"),
        ("parameters.query", "# parameters.query", "matcher cuda_syntax needs the parameter query"),
    ],
)
def test_a_mistake_in_a_rule_is_one_line(rocm3d, overlay, repository, old, new, message):
    path = overlay / "rules" / "cuda" / "vendor_header" / "rule.toml"
    path.write_text(RULE.replace(old, new, 1))

    ended = rocm3d("scan", repository, "--knowledge", overlay)

    first_line = ended.err.splitlines()[0]
    assert (ended.code, first_line.split(": ")[:2]) == (2, ["rocm3d", "rule vendor_header"])
    assert message in first_line


def test_an_unknown_matcher_stops_the_scan_with_one_line(rocm3d, overlay, repository):
    path = overlay / "rules" / "cuda" / "vendor_header" / "rule.toml"
    path.write_text(RULE.replace('"cuda_syntax"', '"includes"', 1))

    ended = rocm3d("scan", repository, "--knowledge", overlay)

    assert ended.code == 2
    assert "rule vendor_header: unknown matcher 'includes'" in ended.err


def test_found_explained_fixed_and_undone(rocm3d, overlay, repository):
    options = ("--knowledge", overlay)
    assert rocm3d("kb", "check", *options).code == 0

    (finding,) = json.loads(rocm3d("scan", repository, "--format", "json", *options).out)["findings"]
    assert (finding["code"], finding["line"], finding["recipe"]) == ("CU990", 1, "vendor-header-guarded")
    assert finding["message"] == "<vendor_sdk.h>: only in the CUDA SDK of our vendor"
    (log,) = json.loads(rocm3d("scan", repository, "--format", "sarif", *options).out)["runs"]
    assert [result["ruleId"] for result in log["results"]] == ["CU990"]
    assert "Only the vendor's CUDA SDK has the header." in rocm3d("explain", "vendor_header", *options).out

    assert rocm3d("apply", repository, "--gpu", "mi300x", *options).code == 0
    assert (repository / "a.cu").read_text() == AFTER
    assert rocm3d("undo", repository).code == 0
    assert (repository / "a.cu").read_text() == BEFORE
