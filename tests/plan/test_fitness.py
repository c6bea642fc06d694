"""Results and refusals of fit for known and unknown repositories, with and without a checkout."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from rocm3d.model.failure import UserError
from rocm3d.model.fit import Fit
from rocm3d.model.plan import ChosenStack, Plan
from rocm3d.model.port import MemoryNeed, Port
from rocm3d.model.source import Source
from rocm3d.plan.comparison import Question
from rocm3d.plan.fitness import fitness
from rocm3d.plan.memory import UNKNOWN


@pytest.fixture
def port(make):
    memory = MemoryNeed(mode="whole", gb=100, known=date(2025, 1, 1), source=Source(where="a README"))
    fact = {"checked": make.today, "confidence": "inferred", "sources": (Source(where="a README"),)}

    def known(**rest):
        return Port(id="known", title="Known", tier=1, families=("gaussian",), memory=(memory,), **fact, **rest)

    return known


@pytest.fixture
def ask(make, port):
    own = replace(make.knowledge(), cards={"h100": make.card("h100", 80)}, ports={"known": port()})

    def question(plan=None, knowledge=own):
        return Question(knowledge.gpu("mi300x"), knowledge, make.today, plan=plan)

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


def test_neither_record_nor_checkout_is_refused(ask, make):
    with pytest.raises(UserError, match="no known repository and no checkout"):
        fitness(ask(), None, make.today)


def test_an_unknown_checkout_has_no_past(ask, plan, make):
    with pytest.raises(UserError, match="folder is not a known repository") as refused:
        fitness(ask(plan), None, make.today - timedelta(days=1))

    assert refused.value.hint == "drop --as-of"


def test_an_unknown_checkout_is_said_to_be_unknown_and_its_dependencies_are_compared_all_the_same(ask, plan, make):
    document = fitness(ask(plan), None, make.today)

    assert (document.model, document.viability, document.score) == (None, None, None)
    assert (document.title, document.repository, document.memory) == ("folder", "folder", ())
    assert document.notes == (UNKNOWN,)
    assert document.comparison.dependencies is not None
    assert document.comparison.gpu.modes == ()


def test_a_known_checkout_has_the_score_of_its_record_and_the_dependencies_of_the_folder(ask, plan, port, make):
    document = fitness(ask(plan), port(), make.today)

    assert (document.model, document.repository, document.viability) == ("known", "folder", "High")
    assert [mode.jobs for mode in document.memory] == [1]
    assert [mode.fits for mode in document.comparison.against[0].modes] == [False]
    assert document.comparison.dependencies is not None


def test_a_record_alone_leaves_the_dependencies_open(ask, port, make):
    document = fitness(ask(), port(), make.today)

    assert document.repository is None
    assert document.comparison.dependencies is None


def test_an_earlier_date_has_no_comparison_and_says_why(ask, port, make):
    earlier = make.today - timedelta(days=1)
    document = fitness(ask(), port(), earlier)

    assert document.comparison is None
    assert document.notes[-1] == f"no comparison of cards: it uses today's facts, not those of {earlier}"


def test_a_hosted_service_is_compared_with_nothing(ask, port, make):
    assert fitness(ask(), port(hosted=True), make.today).comparison is None


def test_a_card_of_two_devices_is_judged_by_one_of_them(ask, make, port):
    own = replace(make.knowledge(), cards={"mi300x": make.card("mi300x", devices=2)}, ports={"known": port()})
    document = fitness(ask(knowledge=own), port(), make.today)

    assert [mode.fits for mode in document.memory] == [False]
    assert document.notes[0].startswith("a program sees this card as 2 devices of 96 GB")


def test_the_document_comes_back_equal_from_its_json(ask, plan, port, make):
    document = fitness(ask(plan), port(), make.today)

    assert Fit.from_json(document.to_json(), "fit.json") == document
