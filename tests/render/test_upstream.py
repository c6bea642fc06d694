from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import pytest

from rocm3d.evidence.proposals import PatchedClone, edited_file, proposals
from rocm3d.model.patch import SubmodulePatch
from rocm3d.model.plan import LicenceNotice
from rocm3d.model.upstream import Fix
from rocm3d.model.verdict import Verdict
from rocm3d.render.html import PortReportView
from rocm3d.render.upstream import DraftContext, before_sending, body, title

EVIL = "<img src=x> @someone #1 | `x` [a](b)\x1b[31m"
# No promise, no praise; and the licence rules of the house.
FORBIDDEN = re.compile(
    r"\b(seamless|blazing|effortless|powerful|robust|easy|easily|simply|fully support|full support|drop-in|works on|"
    r"AMD version of|amazing|best|state.of.the.art|production.ready|🚀)\b",
    re.IGNORECASE,
)


@pytest.fixture
def drafted(make, knowledge):
    """The draft for a part of a port: the repository, libs/simple-knn or a dependency from git."""

    def build(part="repository", *decisions, kind="pr", change=None, update=None, **patch):
        inside = make.change("libs/simple-knn/a.cu", diff="\n@@ -1 +1 @@\n-a\n+b\n")
        module = SubmodulePatch(path="libs/simple-knn", name="simple-knn", commit="c" * 40, file="f", changes=(inside,))
        built = make.patch(change or make.change(diff="\n@@ -1 +1,2 @@\n-a\n+b\n+c\n"))
        built = built.model_copy(update={"modules": (module,), **patch})
        report = PortReportView(make.scan(), make.plan(*decisions), built, make.verdicts(), make.evidence())
        report = replace(report, **(update(report) if update else {}))
        clone = PatchedClone(
            "raster", "d" * 40, "https://host.org/acme/raster", (edited_file("r.cu", "\n@@ -1 +1 @@\n-a\n+b\n"),), ()
        )
        result = proposals(report.patch, report.verdicts, "e" * 40, {}, [clone])
        proposal = next(entry for entry in result if entry.part == part)
        around = DraftContext(report, knowledge, report.plan.repository)
        return proposal, kind, around

    return build


def test_text_of_the_repository_is_shown_and_never_obeyed(make, drafted):
    def hostile(report):
        return {"plan": make.plan(make.decision(EVIL, "stub", EVIL), repository=EVIL)}

    for part in ("repository", "submodule"):
        arguments = drafted(part, change=make.change(EVIL), update=hostile)
        text = body(*arguments) + before_sending(*arguments, "x")
        assert "<img" not in text
        assert " @someone" not in text
        assert "\x1b" not in text
        assert "](b)" not in text.replace("\\](b)", "")
        assert title(*arguments).isprintable()


@pytest.mark.parametrize("part", ["repository", "submodule", "dependency"])
@pytest.mark.parametrize("kind", ["pr", "issue"])
def test_nothing_is_sold_and_the_title_fits_a_subject_line(drafted, part, kind):
    arguments = drafted(part, kind=kind)
    text = title(*arguments) + body(*arguments)

    assert FORBIDDEN.findall(text) == []
    assert len(title(*arguments)) <= 72
    assert len(text.splitlines()) < 80


def test_only_what_passed_is_ticked(drafted):
    proposal, *values = drafted()
    ticked = [line for line in body(proposal, *values).splitlines() if line.startswith("- [x]")]

    assert ticked == ["- [x] the files match the patch: csrc/a.cu"]
    assert {entry.outcome for entry in proposal.checks} == {"passed", "failed", "skipped", "not_run"}


def test_what_failed_comes_first_and_what_was_not_run_gives_the_reason(drafted):
    arguments = drafted()
    text = body(*arguments)
    tested = text.partition("## Tested\n\n")[2]

    assert tested.startswith("- [ ] **failed**: edited files are the same without ROCm: the guard leaks")
    assert "- [ ] the extensions compile for AMD targets: not run; no compiler is here" in text
    assert "- [ ] no edited pattern remains: skipped; the plan has no edit" in text
    assert "Nothing was run on a GPU" in text
    assert "your own tests on an NVIDIA GPU: not run with this change" in text
    assert "1 check failed. Fix that before you send it" in before_sending(*arguments, "")


def test_a_pass_of_the_repository_around_it_ticks_nothing_for_a_submodule(drafted):
    text = body(*drafted("submodule"))

    assert "[x]" not in text
    assert "this code was not covered" in text
    assert "Found while porting demo, which has this as a submodule." in text


def test_of_a_dependency_from_git_nothing_is_claimed(drafted):
    text = body(*drafted("dependency"))

    assert "[x]" not in text
    assert "**Not proven to be the same without ROCm: `r.cu`.**" in text
    assert "not proven: not checked" in text
    assert "- [ ] everything: the checks of the port did not cover this code" in text
    assert "same code as before" not in text


def test_what_compiles_in_part_is_not_claimed_to_compile(drafted):
    units = (
        Verdict(
            level="compile", probe="compile_extensions", outcome="passed",
            looked_at=("csrc/a.cu (x)", "gfx942: 3 kernels", "headers: HIP (mixed); declared by rocm3d: thrust"),
        ),
        Verdict(level="compile", probe="compile_extensions", outcome="not_run", reason="csrc/b.cu (x): glm is nowhere"),
    )  # fmt: skip

    def compiled(*result):
        return lambda report: {"verdicts": report.verdicts.model_copy(update={"verdicts": result})}

    part, complete = (drafted(update=compiled(*result)) for result in (units, units[:1]))

    assert "Part of it compiles for AMD targets; the rest was not tried: see below." in body(*part)
    assert "(for gfx942; in part): csrc/a.cu (x), gfx942: 3 kernels, headers: HIP (mixed); declared" in body(*part)
    assert "It compiles for AMD targets: `rocm3d verify" in before_sending(*part, "")
    assert "It compiles for AMD targets: see below." in body(*complete)
    assert "rocm3d verify PATH --level compile" not in before_sending(*complete, "")


def test_stubs_blocked_packages_and_losses_are_named(make, drafted):
    decided = (
        make.decision("gsplat", "stub", "a stand-in"),
        make.decision("spconv", "blocked", "no wave64"),
        make.decision("xformers", "drop", loses="sparse attention"),
    )
    text = body(*drafted("repository", *decided))

    assert "- `gsplat`: a stub, which never counts as tested; a stand-in" in text
    assert "- `spconv`: cannot be installed for this GPU; no wave64" in text
    assert "- `xformers`: without sparse attention" in text


def test_a_proof_that_does_not_hold_and_edits_without_a_guard_are_shown_at_the_top(make, drafted):
    broken = body(*drafted(change=make.change(holds=False))).partition("## ")[0]
    proof = make.change().proof.model_copy(update={"kind": "closed-list"})
    bare = body(*drafted(change=make.change().model_copy(update={"proof": proof}))).partition("## ")[0]

    assert "**Not proven to be the same without ROCm: `csrc/a.cu`.**" in broken
    assert "same code as before" not in broken
    assert "Except in `csrc/a.cu`, every edit is guarded" in bare
    assert "`csrc/a.cu`: contains an edit that cannot be guarded" in bare


def test_a_file_that_only_nvcc_could_prove_is_not_ticked(make, drafted):
    proof = make.change().proof.model_copy(update={"kind": "closed-list"})
    change = make.change().model_copy(update={"proof": proof})
    visible = Verdict(level="static", probe="prove_isolation", outcome="passed", looked_at=("csrc/a.cu",))

    def proven(*more):
        return lambda report: {"verdicts": report.verdicts.model_copy(update={"verdicts": (visible, *more)})}

    compared = Verdict(level="nvidia", probe="compile_cuda", outcome="passed", looked_at=("csrc/a.cu (x)", "same PTX"))
    missing = "- [ ] `csrc/a.cu`: nvcc's output before and after the edit was not compared"
    text, other = (body(*drafted(change=change, update=proven(*more))) for more in ((), (compared,)))

    assert "[x]" not in text
    assert missing in text
    assert missing not in other
    assert "- [x] nvcc still compiles them: csrc/a.cu (x), same PTX" in other


def test_where_nothing_is_edited_checks_of_edits_are_not_missed(make, drafted):
    added = make.change("rocm-port/x").model_copy(update={"kind": "added", "before": None})
    arguments = drafted(change=added)

    assert title(*arguments) == "Install files for ROCm (no existing file is edited)"
    assert "no edited pattern remains" not in body(*arguments)


def test_terms_that_forbid_something_are_reported_in_their_wording(make, drafted, knowledge):
    licence = knowledge.packages["simple-knn"].licence

    def licensed(report):
        notice = LicenceNotice(package="simple-knn", licence=licence)
        return {"plan": report.plan.model_copy(update={"licences": (notice,)})}

    for part in ("repository", "submodule"):
        text = " ".join(body(*drafted(part, update=licensed)).split())
        assert f"`simple-knn` is under {licence.name}" in text
        assert licence.wording in text
        assert "redistributes and relicenses nothing" in text
    assert "## Licences" not in body(*drafted("dependency"))


def test_runs_on_a_gpu_are_reported_with_their_hardware(make, drafted):
    text = body(*drafted(update=lambda report: {"runs": (make.joined(),)}))

    assert "Nothing was run on a GPU" not in text
    assert "Run `train` on AMD Instinct MI300X (gfx942)" in text


def test_a_change_that_others_wait_for_is_named_with_its_state(drafted):
    proposal, kind, around = drafted()
    day, link = date(2026, 11, 15), "https://github.com/a/b/pull/1"
    fix = Fix(id="simple-knn-1", dependency="simple-knn", state="merged", links=(link,), first=day, changed=day)

    text = body(proposal, kind, replace(around, fixes={"simple-knn": fix}))

    assert f"Also needs a change in `simple-knn` (merged: {link})" in text


def test_what_the_change_is_and_how_to_see_it_without_us(drafted):
    arguments = drafted()
    text = body(*arguments)

    assert title(*arguments) == "Guarded edits for ROCm (1 file)"
    assert "`edits.patch` (+2 -1 lines):" in text
    assert "`unifdef -UUSE_ROCM -U__HIP_PLATFORM_AMD__ FILE` on `csrc/a.cu`" in text
    assert f"Made for commit `{'e' * 40}`." in text
    assert "It was not compiled." in text
    assert "rocm3d ledger mark knn-1 --link" in before_sending(*arguments, "knn-1")
    assert body(*arguments) == text


def test_an_issue_has_a_question_and_lists_locations(make, drafted):
    result = make.finding("libs/simple-knn/a.cu", 7)

    def left(report):
        plan = make.plan(left=(result,))
        return {"plan": plan, "patch": report.patch.model_copy(update={"left": plan.left})}

    arguments = drafted("submodule", kind="issue", update=left)
    text = body(*arguments)

    assert title(*arguments) == "Building with ROCm: 1 place assumes CUDA"
    assert "| `a.cu:7` | CU301 spaced\\_launch | no |" in text
    assert "Would you accept it as a pull request?" in text
