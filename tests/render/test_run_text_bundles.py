from __future__ import annotations

import pytest

from rocm3d.model.bundle import AlteredFile, BundleCheck, Chain, DiffRow, EvidenceDiff, Link, LinkPair, StageSummary
from rocm3d.render import console, markdown, run_text

THERE = Link(link="backend", there=True, what="attention: CK")
GONE = Link(link="backend", there=False, what="torch did not use a GPU")


@pytest.fixture
def diff():
    rows = (
        DiffRow(section="time", name="whole run", a="12.5 s", b="25 s", change="x 2"),
        DiffRow(section="time", name="number of steps", a="30", b="30"),
        DiffRow(section="artifact", name="evil\x1b[31m|name", a="", b="3"),
    )
    pair = LinkPair(link="backend", a=THERE, b=GONE)
    return EvidenceDiff(a="a", b="b", links=(pair,), rows=rows, worse=("backend: torch did not use a GPU",))


@pytest.mark.parametrize(
    ("how", "messages"),
    [
        ("changed", "x: changed since it was sealed"),
        ("missing", "x: missing"),
        ("added", "x: not part of the bundle"),
        ("link", "x: a link or device in place of a file"),
    ],
)
def test_what_happened_to_a_file(how, messages):
    assert run_text.altered_text(AlteredFile(path="x", how=how)) == messages


def test_a_missing_link_is_shown_as_missing(diff, knowledge):
    assert run_text.link_text(GONE) == "missing: torch did not use a GPU"
    for text in (console.render(diff, width=200), markdown.render(diff, knowledge)):
        assert "missing: torch did not use a GPU" in text


def test_names_from_elsewhere_are_shown_and_not_obeyed(diff, knowledge):
    for text in (console.render(diff), markdown.render(diff, knowledge)):
        assert "\x1b" not in text
    assert "evil\N{REPLACEMENT CHARACTER}\\[31m&#124;name" in markdown.render(diff, knowledge)


def test_a_check_of_an_altered_bundle(knowledge):
    document = BundleCheck(bundle="b", sha256="0", altered=(AlteredFile(path="a.ply", how="missing"),))

    assert console.render(document) == "a.ply: missing\n"
    assert console.summary(document) == "b was changed after it was sealed; files affected: 1\n"
    assert "- a.ply: missing" in markdown.render(document, knowledge)


def test_a_check_of_a_sound_bundle(knowledge):
    messages = StageSummary(stage="plan", path="documents/plan.json", says="partial")
    document = BundleCheck(
        bundle="b", sha256="f0", sealed=3, stages=(messages,), chains=(Chain(run="r", links=(THERE, GONE)),)
    )

    assert console.render(document).splitlines() == [
        "plan: partial", "r: backend: attention: CK", "r: backend: missing: torch did not use a GPU",
    ]  # fmt: skip
    assert console.summary(document) == "b is unchanged: 3 files; sha256 of evidence.json f0\n"
    assert "| `r` | backend | attention: CK |" in markdown.render(document, knowledge)


def test_only_rows_that_differ_are_shown(diff, knowledge):
    text = markdown.render(diff, knowledge)

    assert "| whole run | 12.5 s | 25 s | x 2 |" in text
    assert "number of steps" not in text + console.render(diff)
    assert run_text.diff_summary(diff) == "2 of 3 rows differ; worse in B: 1"


def test_nothing_worse(diff):
    assert run_text.diff_summary(diff.model_copy(update={"worse": ()})).endswith("B is not worse than A")
