"""Results and refusals of fit for known and unknown repositories, with and without a checkout."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from rocm3d.model.errors import UserError
from rocm3d.model.fit import Fit
from rocm3d.model.plan import ChosenStack, Plan
from rocm3d.model.port import MemoryNeed, Port
from rocm3d.model.source import Source
from rocm3d.plan.card_facts import UNKNOWN
from rocm3d.plan.comparison import ComparisonRequest
from rocm3d.plan.fitness import fitness


@pytest.fixture
def port(make):
    memory = MemoryNeed(mode="whole", gb=100, known=date(2025, 1, 1), source=Source(where="a README"))
    fact = {"checked": make.today, "confidence": "inferred", "sources": (Source(where="a README"),)}

    def known(**fields):
        return Port(id="known", title="Known", tier=1, families=("gaussian",), memory=(memory,), **fact, **fields)

    return known


@pytest.fixture
def comparison_request(make, port):
    own = replace(make.knowledge(), cards={"h100": make.card("h100", 80)}, ports={"known": port()})

    def question(plan=None, knowledge=own):
        return ComparisonRequest(knowledge.gpu("mi300x"), knowledge, make.today, plan=plan)

    return question


@pytest.fixture
def plan(make):
    return Plan(
        repository="folder",
        gpu=make.knowledge().gpu("mi300x"),
        stack=ChosenStack(id="s", reason="fits"),
        base=make.stack("s"),
        rejected_stacks=(),
        decisions=(),
        edits=(),
        answered=(),
        left=(),
        readiness="ready",
        knowledge_date="2026-11-15",
    )


def test_neither_record_nor_checkout_is_refused(comparison_request, make):
    with pytest.raises(UserError, match="no known repository and no checkout"):
        fitness(comparison_request(), None, make.today)


def test_an_unknown_checkout_has_no_facts_of_an_earlier_date(comparison_request, plan, make):
    with pytest.raises(UserError, match="folder is not a known repository") as refused:
        fitness(comparison_request(plan), None, make.today - timedelta(days=1))

    assert refused.value.hint == "drop --as-of"


def test_an_unknown_checkout_gets_a_note_and_a_comparison(comparison_request, plan, make):
    document = fitness(comparison_request(plan), None, make.today)

    assert (document.model, document.viability, document.score) == (None, None, None)
    assert (document.title, document.repository, document.memory) == ("folder", "folder", ())
    assert document.notes == (UNKNOWN,)
    assert document.comparison.dependencies is not None
    assert document.comparison.gpu.modes == ()


def test_a_known_checkout_has_the_score_of_its_record_and_the_dependencies_of_the_folder(
    comparison_request, plan, port, make
):
    document = fitness(comparison_request(plan), port(), make.today)

    assert (document.model, document.repository, document.viability) == ("known", "folder", "High")
    assert [mode.jobs for mode in document.memory] == [1]
    assert [mode.fits for mode in document.comparison.against[0].modes] == [False]
    assert document.comparison.dependencies is not None


def test_a_record_alone_leaves_the_dependencies_open(comparison_request, port, make):
    document = fitness(comparison_request(), port(), make.today)

    assert document.repository is None
    assert document.comparison.dependencies is None


def test_an_earlier_date_has_no_comparison_but_a_note(comparison_request, port, make):
    earlier = make.today - timedelta(days=1)
    document = fitness(comparison_request(), port(), earlier)

    assert document.comparison is None
    assert document.notes[-1] == f"no comparison of cards: it uses today's facts, not those of {earlier}"


def test_a_hosted_service_is_compared_with_nothing(comparison_request, port, make):
    assert fitness(comparison_request(), port(hosted=True), make.today).comparison is None


def test_a_card_of_two_devices_counts_as_one_of_them(comparison_request, make, port):
    own = replace(make.knowledge(), cards={"mi300x": make.card("mi300x", devices=2)}, ports={"known": port()})
    document = fitness(comparison_request(knowledge=own), port(), make.today)

    assert [mode.fits for mode in document.memory] == [False]
    assert document.notes[0].startswith("a program sees this card as 2 devices of 96 GB")


def test_the_document_comes_back_equal_from_its_json(comparison_request, plan, port, make):
    document = fitness(comparison_request(plan), port(), make.today)

    assert Fit.from_json(document.to_json(), "fit.json") == document
