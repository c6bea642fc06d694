from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from rocm3d.model.package import Licence
from rocm3d.model.plan import LicenceNotice
from rocm3d.render.html import Report, render

VOID = {"meta", "br", "link", "img", "input", "hr"}
EVIL = "<img src=x onerror=1>"


class Page(HTMLParser):
    """Balanced tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.faults: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


@pytest.fixture
def report(make):
    def run(repository="demo", moved=(), **rest) -> Report:
        diff = "--- a/csrc/a.cu\n+++ b/csrc/a.cu\n@@ -1 +1,2 @@\n-<b>old</b>\n+</pre><script>alert(1)</script>\n"
        bad = make.finding(path=EVIL, message=EVIL, hint=EVIL)
        decisions = rest.get(
            "decisions", (make.decision("gsplat", "stub", "a stand-in"), make.decision(EVIL, "keep", EVIL))
        )
        return Report(
            scan=make.scan(bad, repository=repository, skipped=[(EVIL, EVIL)]),
            plan=make.plan(*decisions, repository=repository, feasible=rest.get("feasible", True), warnings=(EVIL,)),
            patch=make.patch(
                make.change(EVIL, diff), repository=repository, refused=[(EVIL, EVIL)], left=rest.get("left", [bad])
            ),
            verdicts=rest.get("verdicts", make.verdicts()),
            evidence=make.evidence(repository),
            moved=moved,
        )

    return run


def test_page_asks_nobody_for_anything(report):
    page = render(report())

    assert Page(page).tags.count("script") == 0
    assert [pair for pair in Page(page).attributes if pair[0] in ("src", "href", "srcset", "action", "data")] == []
    assert re.findall(r"url\(|@import", page) == []


def test_text_of_the_repository_is_escaped(report):
    page = render(report(repository=EVIL))

    assert EVIL not in page
    assert "<script" not in page
    assert "img" not in Page(page).tags
    assert not [name for name, _ in Page(page).attributes if name.startswith("on")]
    assert EVIL in Page(page).text
    assert "</pre><script>alert(1)</script>" in Page(page).text


def test_tags_are_balanced(report):
    page = Page(render(report()))

    assert (page.faults, page.open) == ([], [])
    assert page.tags[:2] == ["html", "head"]


def test_tags_are_balanced_when_there_is_nothing_to_show(make):
    empty = Report(
        make.scan(),
        make.plan(feasible=False),
        make.patch(),
        make.verdicts().model_copy(update={"verdicts": ()}),
        make.evidence(),
    )
    page = Page(render(empty))

    assert (page.faults, page.open) == ([], [])
    assert "No stack serves this GPU." in page.text
    assert "Nothing was changed." in page.text


def test_counts_come_in_their_order(report):
    assert "4 changed 3 left for a person 2 rejected with reason 1 not verified" in Page(render(report())).text.replace(
        "4changed", "4 changed"
    ).replace("3left", "3 left").replace("2rejected", "2 rejected").replace("1not", "1 not")


def test_stand_ins_are_named_before_everything_else(report):
    text = Page(render(report())).text

    assert text.index("gsplat: stub, a stand-in") < text.index("Not obtained") < text.index("Checks")
    assert "never counted as verified" in text


def test_no_heading_for_stand_ins_where_there_are_none(make, report):
    assert "Stand-ins" not in Page(render(report(decisions=(make.decision("a", "keep"),)))).text


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        ("passed", "csrc/a.cu"),
        ("failed", "the guard leaks"),
        ("skipped", "the plan has no edit"),
    ],
)
def test_every_outcome_is_shown_with_its_reason(report, outcome, reason):
    page = render(report())
    rows = [Page(row).text for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL)]

    assert any(outcome in row and row.endswith(reason) for row in rows)


def test_what_was_not_run_stands_apart_with_its_reason(report):
    text = Page(render(report())).text

    assert "Not run, so neither passed nor failed" in text
    assert "no compiler is here" in text


def test_what_was_not_obtained_says_why(report):
    assert "machine code: no compiler" in Page(render(report())).text


def test_refused_left_skipped_and_rejected_are_all_there(report):
    text = Page(render(report())).text

    assert "Refused edits" in text
    assert "CU301 spaced_launch" in text
    assert "1 were not read or not wholly understood" in text
    assert "s0: has no code for gfx942" in text


def test_page_has_title_language_viewport_and_date(report):
    page = render(report())

    assert page.startswith('<!doctype html>\n<html lang="en">')
    assert "<title>demo on AMD Instinct MI300X - rocm3d</title>" in page
    assert 'name="viewport"' in page
    assert "2026-11-15 12:30 UTC" in page


@pytest.mark.parametrize(
    ("given", "outcome", "tone"),
    [
        ({"moved": ("plan.json",)}, "Changed since it was sealed.", "failed"),
        ({}, "A check failed.", "failed"),
        ({"good": True, "feasible": False}, "Blocked: a dependency has no route to this GPU.", "failed"),
        ({"good": True}, "Ported in part: work is left for a person.", "not_run"),
        ({"good": True, "left": []}, "Ported; what was not run is listed below.", "not_run"),
    ],
)
def test_one_sentence_at_the_top(make, report, given, outcome, tone):
    given = dict(given)
    if given.pop("good", False):
        all_checks = make.verdicts()
        passed = tuple(item for item in all_checks.verdicts if item.outcome != "failed")
        given["verdicts"] = all_checks.model_copy(update={"verdicts": passed})
    made = report(**given)

    assert made.outcome == outcome
    assert f'<p class="outcome {tone}">{outcome}</p>' in render(made)


def test_moved_documents_are_named(report):
    assert "No longer what was sealed: plan.json." in Page(render(report(moved=("plan.json",)))).text


def test_same_page_twice(report):
    assert render(report()) == render(report())


def test_scan_page_asks_nobody_and_is_balanced(make):
    bad = make.finding(path=EVIL, message=EVIL, hint=EVIL, family=EVIL)
    text = render(make.scan(bad, repository=EVIL, skipped=[(EVIL, EVIL)]))
    page = Page(text)

    assert (page.open, page.faults) == ([], [])
    assert not {"script", "img", "link"} & set(page.tags)
    assert [pair for pair in page.attributes if pair[0] in ("src", "href", "srcset", "action", "data")] == []
    assert EVIL not in text


def test_scan_page_is_free_of_control_characters(make):
    odd = "a\x1b[31m\u202eb"
    text = render(make.scan(make.finding(path=odd, message=odd, hint=odd), repository=odd, skipped=[(odd, odd)]))

    assert "\x1b" not in text
    assert "\u202e" not in text


def test_scan_page_is_grouped_and_counts(make):
    findings = (make.finding(family="attention", severity="warning"), make.finding(family="native-op"))
    text = render(make.scan(*findings, skipped=[("a.bin", "holds NUL bytes")]).model_copy(update={"known": 3}))
    words = Page(text).text

    assert words.index("native-op: 1 error") < words.index("attention: 1 warning")
    assert "<li><b>1</b>error</li>" in text
    assert "<li><b>0</b>notes</li>" in text
    assert "3known from the baseline, not listed" in words
    assert "a.bin holds NUL bytes" in words
    assert '<p class="outcome failed">' in text


def test_scan_page_of_nothing(make):
    text = render(make.scan())

    assert "Nothing was found." in text
    assert '<p class="outcome passed">' in text


def test_both_pages_have_the_same_style(make, report):
    style = re.compile(r"<style>.*</style>", re.DOTALL)

    assert style.findall(render(report())) == style.findall(render(make.scan())) != []


def test_what_the_port_goes_without_and_restrictive_terms_stand_before_the_checks(make, report):
    off = make.decision("quantiser", "drop", loses="8-bit loading")
    licence = LicenceNotice(package="raster", licence=Licence(name="Some License", note="No sale.", restrictive=True))
    shown = report(decisions=[off])
    page = Page(render(replace(shown, plan=shown.plan.model_copy(update={"licences": (licence,)}))))

    assert page.text.index("quantiser : 8-bit loading".replace(" :", ":")) < page.text.index("Checks")
    assert page.text.index("Some License. No sale.") < page.text.index("Checks")
    assert page.faults == []
