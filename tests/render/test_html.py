from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.evidence.chain import evidence_chain
from rocm3d.model.bundle import AlteredFile, Bundle, BundleReport, UnreadRun
from rocm3d.model.evidence import SealedRun
from rocm3d.model.inventory import HiddenFindings
from rocm3d.model.package import Licence
from rocm3d.model.patch import SAFE_ONLY
from rocm3d.model.plan import LicenceNotice
from rocm3d.render.html import PortReportView, render

EVIL = "<img src=x onerror=1>"
# Turns the writing around, hides, ends a line, and closes an attribute.
BENT = "a\u202eb\u2066c\u200bd\x1b[31m\"'"


def unread(text: str = "half is incomplete") -> UnreadRun:
    return UnreadRun(folder="half", reason=text)


def bundle(*runs, name="train", altered=()) -> BundleReport:
    held = Bundle(repository=name, runs=runs, chains=tuple(evidence_chain(run) for run in runs))
    return BundleReport(name=name, sha256="a" * 64, altered=altered, bundle=held)


@pytest.fixture
def report(make):
    def run(repository="demo", moved=(), **values) -> PortReportView:
        diff = "--- a/csrc/a.cu\n+++ b/csrc/a.cu\n@@ -1 +1,2 @@\n-<b>old</b>\n+</pre><script>alert(1)</script>\n"
        bad = make.finding(path=EVIL, message=EVIL, hint=EVIL)
        decisions = values.get(
            "decisions", (make.decision("gsplat", "stub", "a stand-in"), make.decision(EVIL, "keep", EVIL))
        )
        return PortReportView(
            scan=make.scan(bad, repository=repository, skipped=[(EVIL, EVIL)]),
            plan=make.plan(*decisions, repository=repository, feasible=values.get("feasible", True), warnings=(EVIL,)),
            patch=make.patch(
                make.change(EVIL, diff),
                repository=repository,
                refused=values.get("refused", [(EVIL, EVIL, "not_needed")]),
                left=values.get("left", [bad]),
            ),
            verdicts=values.get("verdicts", make.verdicts()),
            evidence=make.evidence(repository, state=values.get("state")),
            moved=moved,
            runs=tuple(values.get("runs", ())),
            unread=tuple(values.get("unread", ())),
            families={"gsplat": "Gaussian splatting and its rasterizers"},
        )

    return run


def test_page_loads_nothing_from_elsewhere(make, report, read):
    page = render(report(runs=[make.joined()]))
    addresses = {value for name, value in read(page).attributes if name in ("src", "href", "srcset", "action", "data")}

    assert read(page).tags.count("script") == 0
    assert {value for value in addresses if not value.startswith("#")} == {f"data:image/png;base64,{make.PNG}"}
    assert re.findall(r"url\(|@import", page) == []
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'" in page


def test_every_link_leads_to_a_place_on_the_page(make, report, read):
    page = read(render(report(runs=[make.joined()])))
    names = [value for name, value in page.attributes if name == "id"]

    assert {value[1:] for name, value in page.attributes if name == "href"} <= set(names)
    assert len(names) == len(set(names))


def test_text_of_the_repository_is_escaped(make, report, read):
    page = render(report(repository=EVIL, runs=[make.joined(make.hostile_run(EVIL), EVIL)], unread=[unread(EVIL)]))

    assert EVIL not in page
    assert "<script" not in page
    assert "img" not in read(page).tags
    assert not [name for name, _ in read(page).attributes if name.startswith("on")]
    assert EVIL in read(page).text
    assert "</pre><script>alert(1)</script>" in read(page).text


def test_text_of_a_bundle_is_escaped(make, read):
    page = render(bundle(make.hostile_run(EVIL), name=EVIL))

    assert EVIL not in page
    assert "img" not in read(page).tags
    assert (read(page).open, read(page).faults) == ([], [])


def test_nothing_turns_the_writing_around(make, report, read):
    """Also in attributes and in pictures."""
    left = [make.finding(path=BENT, message=BENT)]
    page = render(report(repository=BENT, left=left, runs=[make.joined(make.hostile_run(BENT), BENT)]))
    other = render(bundle(make.hostile_run(BENT), name=BENT))

    for text in (page, other):
        assert not set("\u202e\u2066\u200b\x1b") & set(text)
        assert (read(text).open, read(text).faults) == ([], [])


@given(st.text(max_size=20))
def test_any_text_leaves_the_page_whole(make, read, text):
    page = read(render(bundle(make.hostile_run(text), name="b")))

    assert (page.open, page.faults) == ([], [])
    assert not {"script", "iframe", "object"} & set(page.tags)


def test_tags_are_balanced(report, read):
    page = read(render(report()))

    assert (page.faults, page.open) == ([], [])
    assert page.tags[:2] == ["html", "head"]


def test_tags_are_balanced_on_an_empty_page(make, read):
    empty = PortReportView(
        make.scan(),
        make.plan(feasible=False),
        make.patch(),
        make.verdicts().model_copy(update={"verdicts": ()}),
        make.evidence(),
    )
    page = read(render(empty))

    assert (page.faults, page.open) == ([], [])
    assert "No stack supports this GPU." in page.text
    assert "Nothing was changed." in page.text


def test_the_rungs_and_the_next_command_come_first(report, read):
    header = read(render(report()).partition("</header>")[0]).text

    assert "\u2713 okscannedWas everything that belongs to the port scanned?" in header
    assert "\u2715 failededited" in header
    assert "the guard leaks (static prove_isolation)" in header
    assert "1 task for a person; stub or substitute, never verified: gsplat." in header
    assert "next: rocm3d toolchain prepare" in header


def test_stand_ins_are_named_before_everything_else(report, read):
    text = read(render(report())).text

    assert text.index("gsplat: stub, a stand-in") < text.index("All 4 checks")
    assert "never count as verified" in text


def test_no_heading_for_stand_ins_if_none_exist(make, report, read):
    assert "Stubs and substitutes" not in read(render(report(decisions=(make.decision("a", "keep"),)))).text


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        ("passed", "csrc/a.cu"),
        ("failed", "the guard leaks"),
        ("skipped", "the plan has no edit"),
    ],
)
def test_every_outcome_is_shown_with_its_reason(report, read, outcome, reason):
    page = render(report())
    rows = [read(row).text for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL)]

    assert any(outcome in row and row.endswith(reason) for row in rows)


def test_what_was_not_run_is_listed_with_its_reason(report, read):
    text = read(render(report())).text

    assert "A check that was not run is neither passed nor failed" in text
    assert "\u25cb not runcompiledDoes it compile to AMD machine code?no compiler is here" in text


def test_tasks_edits_not_made_skipped_and_rejected_are_all_listed(report, read):
    text = read(render(report())).text

    assert "Edits that were not needed" in text
    assert "1 place that no edit could resolve" in text
    assert "CU301 spaced_launch: no recipe" in text
    assert "rocm3d explain CU301" in text
    assert {"before();", "after();"} <= {*text.split()}
    assert "Edits that were left out" in read(render(report(refused=[("b.cu", SAFE_ONLY, "left_out")]))).text
    assert "1 were not read or not fully parsed" in text
    assert "s0: has no code for gfx942" in text


def test_page_has_title_language_viewport_and_date(report):
    page = render(report())

    assert page.startswith('<!doctype html>\n<html lang="en">')
    assert "<title>demo on AMD Instinct MI300X - rocm3d</title>" in page
    assert 'name="viewport"' in page
    assert "2026-11-15 12:30 UTC" in page


@pytest.mark.parametrize(
    ("moved", "state", "outcome", "tone"),
    [
        (("plan.json",), {}, "Changed since it was sealed.", "failed"),
        ((), {"edited": ("failed", "it leaks")}, "Edited failed: it leaks.", "failed"),
        ((), {"resolved": ("not_run", "no network")}, "Resolved not run: no network.", "not_run"),
        (
            (),
            {"resolved": ("not_run", "no network"), "compiled": ("failed", "a.cu")},
            "Resolved not run: no network. Compiled failed: a.cu.",
            "failed",
        ),
        ((), {"compiled": ("not_applicable", "no extension")}, "Every rung is complete.", "passed"),
        ((), {"tasks": 2}, "Every rung is complete; 2 tasks for a person.", "not_run"),
    ],
)
def test_one_sentence_at_the_top(make, report, moved, state, outcome, tone):
    rungs = {
        name: make.rung(name=name, outcome=value[0], reason=value[1]) if isinstance(value, tuple) else value
        for name, value in state.items()
    }
    built = report(moved=moved, state=make.state(**rungs))

    assert built.outcome == outcome
    assert f'<p class="outcome {tone}">{outcome}</p>' in render(built)


def test_what_the_repository_hides_is_named(report):
    built = report()
    hidden = HiddenFindings(source="<b>.toml", setting="skip = CU", errors=2)
    hiding = replace(built, plan=built.plan.model_copy(update={"hidden": (hidden,)}))

    assert "2 findings hidden by settings in &lt;b&gt;.toml (skip = CU): 2 errors; show" in render(hiding)


def test_moved_documents_are_named(report, read):
    assert "Changed since it was sealed: plan.json." in read(render(report(moved=("plan.json",)))).text


def test_same_page_twice(report):
    assert render(report()) == render(report())


def test_both_pages_have_the_same_style(make, report):
    style = re.compile(r"<style>.*</style>", re.DOTALL)

    assert style.findall(render(report())) == style.findall(render(make.scan())) != []


def test_what_the_port_goes_without_and_restrictive_terms_stand_before_the_checks(make, report, read):
    off = make.decision("quantiser", "drop", loses="8-bit loading")
    licence = LicenceNotice(package="raster", licence=Licence(name="Some License", note="No sale.", restrictive=True))
    shown = report(decisions=[off])
    page = read(render(replace(shown, plan=shown.plan.model_copy(update={"licences": (licence,)}))))

    assert page.text.index("quantiser : 8-bit loading".replace(" :", ":")) < page.text.index("checks: what each")
    assert page.text.index("Some License. No sale.") < page.text.index("checks: what each")
    assert page.faults == []


def test_page_has_landmarks_one_main_heading_and_a_skip_link(make, report, read):
    page = read(render(report(runs=[make.joined()])))

    assert [page.tags.count(tag) for tag in ("header", "nav", "main", "footer", "h1")] == [1, 1, 1, 1, 1]
    assert page.text.index("Skip to the content") < page.text.index("Read this first")
    levels = [int(tag[1]) for tag in page.tags if re.fullmatch("h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_head_of_a_table_has_a_scope(make, report):
    text = render(report(runs=[make.joined()]))

    assert re.findall(r"<th(?![^>]*scope=)[ >]", text) == []


def test_every_picture_has_words(make, report):
    text = render(report(runs=[make.joined()]))

    assert [tag for tag in re.findall(r"<svg[^>]*>", text) if 'role="img"' not in tag or "aria-label=" not in tag] == []
    assert [tag for tag in re.findall(r"<img[^>]*>", text) if 'alt="Preview of' not in tag] == []


def test_without_runs_the_page_warns_that_nothing_proves_it_works(report, read):
    assert "nothing proves yet that it works on a GPU" in read(render(report())).text


def test_what_verify_saw_on_a_gpu_is_not_denied(make, report):
    ran = make.rung(name="ran", outcome="partial", done=1, total=2, reason="no recorded run")

    assert report(state=make.state(ran=ran)).ran == "No workload run was recorded for this port."


def test_a_half_written_run_is_named(report, read):
    text = read(render(report(unread=[unread()]))).text

    assert "The run in half cannot be shown: half is incomplete." in text


def test_a_run_is_shown_with_its_pictures(make, report, read):
    text = render(report(runs=[make.joined()]))
    words = read(text).text

    assert "1 of 1 recorded runs ended as expected, 1 with a complete chain of evidence, 1 on an AMD GPU." in words
    for part in ("Kernel time by backend", "Time of each step", "Memory over time", "Peak memory", "opacity"):
        assert part in text
    assert "no check covers it" in words


def test_a_run_that_the_checks_know_has_no_remark(make, report, read):
    shown = report(runs=[make.joined()])
    known = shown.evidence.model_copy(update={"sealed_runs": (SealedRun(folder="train", outcome="finished"),)})

    assert "no check covers it" not in read(render(replace(shown, evidence=known))).text


def test_a_later_run_of_the_same_name_counts_in_place_of_the_failed_one(make, report, read):
    first = make.joined(make.run(status="failed", exit_code=1, reason="exit code 1"))
    shown = report(runs=[first, make.joined(folder="train-2")])

    assert "Replaced by a later run of the same name: train-2." in read(render(shown)).text


def test_an_altered_bundle_is_never_green(make, read):
    changed = (AlteredFile(path="run.json", how="changed"),)
    page = read(render(bundle(make.run(), altered=changed)))

    assert "Changed since it was sealed." in page.text
    assert "run.json: changed since it was sealed" in page.text


def test_documents_for_programs_hold_the_runs(make, report, read):
    shown = report(runs=[make.joined()], unread=[unread()])

    assert type(shown.document).from_json(shown.document.to_json(), "x") == shown.document
    assert [entry.folder for entry in (*shown.document.runs, *shown.document.unread)] == ["train", "half"]
