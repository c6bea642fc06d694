from __future__ import annotations

import shutil
import subprocess

import pytest

from rocm3d.model.base import Document
from rocm3d.model.patch import SAFE_ONLY, ReviewNote
from rocm3d.model.plan import KNOWN_PROJECT
from rocm3d.pipeline import ApplyOptions, Repository
from rocm3d.render.console import render, summary

EVIL = "a\x1b[31mred\x07\r\u202ertl\u2066\u200bzero\x9b1m\U000e0041tag"
NEVER = ["\x1b", "\x07", "\r", "\u202e", "\u2066", "\u200b", "\x9b", "\U000e0041"]


def evil_documents(make):
    bad = make.finding(path=EVIL, message=EVIL, hint=EVIL)
    return {
        "scan": make.scan(bad, repository=EVIL, skipped=[(EVIL, EVIL)]),
        "plan": make.plan(make.decision(EVIL, "keep", EVIL), left=[bad], warnings=(EVIL,)),
        "patch": make.patch(make.change(EVIL), refused=[(EVIL, EVIL, "left_out")], left=[bad]),
        "dry run": make.patch(
            make.change(EVIL, f"+{EVIL}\n"), dry_run=True, refused=[(EVIL, EVIL, "left_out")], left=[bad]
        ),
    }


def test_document_without_a_console_form_is_a_bug_of_ours():
    with pytest.raises(TypeError, match="no console form"):
        render(Document())
    with pytest.raises(TypeError, match="no console summary"):
        summary(Document())


@pytest.mark.parametrize("name", ["scan", "plan", "patch", "dry run"])
@pytest.mark.parametrize("show", [render, summary])
def test_control_characters_of_the_repository_never_reach_the_terminal(make, name, show):
    text = show(evil_documents(make)[name])

    assert [character for character in NEVER if character in text] == []


@pytest.mark.parametrize("name", ["scan", "plan", "patch", "dry run"])
def test_with_colour_only_our_own_escapes_occur(make, name):
    text = render(evil_documents(make)[name], colour=True)

    assert "\x1b[31mred" not in text
    assert [character for character in NEVER[1:] if character in text] == []


def test_colour_only_on_request(make):
    document = make.scan(make.finding())

    assert "\x1b[" not in render(document)
    assert "\x1b[" in render(document, colour=True)


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "TTY_COMPATIBLE", "CLICOLOR_FORCE"])
def test_environment_does_not_bring_colour_back(make, monkeypatch, variable):
    monkeypatch.setenv(variable, "1")

    assert "\x1b[" not in render(make.scan(make.finding()))


def test_finding_is_one_line_and_one_hint(make):
    assert render(make.scan(make.finding(), make.finding(line=9, column=1))) == (
        "csrc/a.cu:2:12: CU301 spaced_launch: the launch is spaced\n"
        "  hint: close it\n"
        "csrc/a.cu:9:1: CU301 spaced_launch: the launch is spaced\n"
        "  hint: close it\n"
    )


def test_findings_stand_by_family_most_blocking_first_with_one_heading_each(make):
    document = make.scan(
        make.finding(line=1, family="attention", severity="warning"),
        make.finding(line=2, family="native-op", severity="note"),
        make.finding(line=3, family="native-op"),
    )

    assert [line for line in render(document).splitlines() if not line.startswith("  hint: ")] == [
        "native-op: 1 error, 1 note",
        "csrc/a.cu:3:12: CU301 spaced_launch: the launch is spaced",
        "csrc/a.cu:2:12: CU301 spaced_launch: the launch is spaced",
        "attention: 1 warning",
        "csrc/a.cu:1:12: CU301 spaced_launch: the launch is spaced",
    ]


def test_a_single_family_has_a_heading_on_a_terminal_only(make):
    document = make.scan(make.finding(family="native-op"))

    assert render(document).startswith("csrc/a.cu:2:12: ")
    assert render(document, terminal=True).startswith("native-op: 1 error\ncsrc/a.cu:2:12: ")
    assert render(make.scan(), terminal=True) == ""


def test_long_finding_is_not_wrapped(make):
    text = render(make.scan(make.finding(message="long " * 100)), width=40)

    assert len(text.splitlines()) == 2


def test_brackets_and_colons_are_text_and_not_markup(make):
    text = render(make.scan(make.finding(message="[red]x[/red] :smile: [/]")))

    assert "[red]x[/red] :smile: [/]" in text


def test_scan_summary(make):
    assert summary(make.scan(make.finding(), skipped=[("a.bin", "holds NUL bytes")])) == (
        "not read: a.bin holds NUL bytes\n"
        "demo: 1 error in 3 files (1 C++/CUDA, 1 Python, 1 manifest)\n"
        "readiness: needs-edits (spaced_launch: 1)\n"
    )


def test_scan_summary_counts_known_findings(make):
    assert summary(make.scan().model_copy(update={"known": 7})).splitlines()[0] == (
        "7 known findings of the baseline hidden; the counts are of new findings"
    )


def test_plan_names_gpu_stack_losers_decisions_and_leftovers(make):
    text = render(make.plan(make.decision("gsplat", "build"), left=[make.finding()], warnings=("old fact",)))

    assert "warning: old fact\n" in text
    assert "GPU: AMD Instinct MI300X (gfx942, waves of 64 lanes)\n" in text
    assert "stack: s1 (0 blocked)\n" in text
    assert "  not s0: has no code for gfx942\n" in text
    assert "left for a person: csrc/a.cu:2:12 CU301 spaced_launch: no recipe\n" in text
    assert [line.split() for line in text.splitlines() if line.startswith("gsplat")] == [
        ["gsplat", "build", "r", "because"]
    ]


def test_a_known_project_is_no_warning(make):
    lines = render(make.plan(warnings=(f"{KNOWN_PROJECT}x. Using its choices.", "old fact"))).splitlines()

    assert lines[:2] == ["Known project: x. Using its choices.", "warning: old fact"]


def test_plan_without_a_stack(make):
    assert "stack: none for linux. Reason for each:\n" in render(make.plan(feasible=False))


@pytest.mark.parametrize("reason", ["pip install rembg[rocm] instead", "see :bug: 12", "ends with [/] or [/red]"])
def test_reasons_in_the_table_are_text_and_not_markup(make, reason):
    assert reason in render(make.plan(make.decision("rembg", "replace", reason)))


def test_plan_summary(make):
    text = summary(make.plan(make.decision("a", "keep"), make.decision("b", "stub"), make.decision("c", "keep")))

    effort = "effort by finding: 0 none, 0 minutes, 0 hours, 0 rewrite"
    assert text == f"2 keep, 1 stub; 0 edits, 0 left for a person\n{effort}\nreadiness: needs-edits\n"


def test_verdicts_show_every_outcome_with_its_reason(make):
    assert render(make.verdicts()) == (
        "passed   static match_patch: covered 1: csrc/a.cu\n"
        "failed   static prove_isolation: the guard leaks\n"
        "skipped  static find_leftovers: the plan has no edit\n"
        "not_run  compile any: no compiler is here\n"
    )
    assert summary(make.verdicts()) == ""


def test_evidence_is_the_state_of_the_port(make):
    assert render(make.evidence()) == (
        "scanned ok, planned ok, edited failed, resolved 1 of 1, compiled not run, imported 1 of 1, ran not run, "
        "judged 1 of 1\n"
        "  edited: the guard leaks (static prove_isolation)\n"
        "  compiled: no compiler is here\n"
        "1 task for a person; stub or substitute, never verified: gsplat\n"
        "next: rocm3d toolchain prepare\n"
    )


def test_patch_lists_what_was_done_and_what_not(make):
    document = make.patch(make.change(), refused=[("b.cu", "not certain", "task")], left=[make.finding()])

    assert render(document) == (
        "csrc/a.cu was edited by header; byte-identical\n"
        "task: csrc/a.cu:2 CU301 spaced_launch: no recipe\n"
        "  do: close it\n"
        "  more: rocm3d explain CU301; examples are in the report\n"
    )
    assert summary(document) == "1 changed, 1 task, 0 edits left out, 0 to read\n"


def test_edits_that_were_left_out_are_one_line_for_each_reason(make):
    refused = [
        ("b.cu", SAFE_ONLY, "left_out"),
        ("c.cu", SAFE_ONLY, "left_out"),
        ("d.cu", "right as it is", "not_needed"),
    ]

    assert render(make.patch(refused=refused)) == (
        "not needed: d.cu: header: right as it is\nnot made: 2 edits, left out by --safe-only (b.cu, c.cu)\n"
    )
    assert summary(make.patch(refused=refused)) == "0 changed, 0 tasks, 2 edits left out, 0 to read\n"


def test_an_edit_that_somebody_should_read_says_what_to_check(make):
    note = ReviewNote(recipe="header", places=("csrc/a.cu:3", "csrc/a.cu:9"), check="Check the sum.")
    document = make.patch(make.change().model_copy(update={"review": (note,)}))

    assert render(document) == (
        "csrc/a.cu was edited by header; byte-identical\n"
        "read: csrc/a.cu:3,9: header: Check the sum.\n"
        "1 edit that somebody should read: rocm3d review PATH\n"
    )
    assert summary(document) == "1 changed, 0 tasks, 0 edits left out, 1 to read\n"


def test_added_files_and_unchanged_packages_are_counts(make):
    patch = make.patch(make.change("rocm-port/a", kind="added"), make.change("rocm-port/b", kind="added"))
    plan = make.plan(make.decision("numpy", "keep"), make.decision("gsplat", "build"))

    assert render(patch) == "2 files added in rocm-port/\n"
    assert "1 package unchanged\n" in render(plan)
    assert "numpy" not in render(plan)


BODY = "#pragma once\n#include <cuda_runtime.h>\n#include <device_functions.h>\n\nint a;\n"


@pytest.mark.skipif(shutil.which("git") is None, reason="not run: git is not installed")
@pytest.mark.parametrize(
    "source",
    [
        BODY,
        BODY.replace("int a;", "int a;  \n\n    int b; // größe 日本"),
        BODY.replace("int a;", "\tif (x) {\n\t\ty();\n\t}"),
        BODY.replace("\n", "\r\n"),
        BODY.rstrip("\n"),
        BODY.replace("int a;", "\x0cint a;"),
        BODY.replace("int a;", 'const char* s = "' + "x" * 300 + '";'),
    ],
    ids=["plain", "trailing-space", "tabs", "crlf", "no-newline", "form-feed", "long-line"],
)
def test_dry_run_is_a_patch_that_git_takes(tmp_path, knowledge, source):
    root = tmp_path / "demo"
    root.mkdir()
    (root / "a.cu").write_bytes(source.encode())
    repository = Repository(root, knowledge, work=tmp_path / "work")
    document = repository.apply(repository.plan(knowledge.gpu("gfx942")), ApplyOptions(dry_run=True))
    assert "a.cu" in {entry.path for entry in document.changes}

    text = render(document)
    subprocess.run(["git", "init", "-q", str(root)], check=True, capture_output=True)
    result = subprocess.run(
        ["git", "apply", "--check", "-"], input=text.encode(), cwd=root, capture_output=True, check=False
    )

    assert result.stderr.decode() == ""
    assert result.returncode == 0
