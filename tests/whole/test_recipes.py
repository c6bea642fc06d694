"""Every active recipe against the examples that lie beside it."""

from __future__ import annotations

import ast
from pathlib import PurePosixPath

import pytest

from rocm3d.apply.rewrite import Refuse, rewrites
from rocm3d.knowledge.load import load
from rocm3d.model.recipe import Recipe
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.isolation import prove

KNOWLEDGE = load()
ACTIVE = [recipe for recipe in KNOWLEDGE.recipes.values() if recipe.status == "active"]


@pytest.fixture(params=ACTIVE, ids=[recipe.id for recipe in ACTIVE])
def recipe(request) -> Recipe:
    return request.param


def applied(recipe: Recipe, data: bytes) -> bytes:
    return rewrites()[recipe.rewrite].edit(data, recipe.parameters)


def test_untouched_stays_untouched(recipe):
    untouched = KNOWLEDGE.examples[recipe.id].untouched
    try:
        result = applied(recipe, untouched)
    except Refuse:
        result = untouched  # a refusal leaves the file alone, too
    assert result == untouched


def test_before_becomes_after(recipe):
    example = KNOWLEDGE.examples[recipe.id]
    assert applied(recipe, example.before) == example.after


def test_twice_is_once(recipe):
    after = KNOWLEDGE.examples[recipe.id].after
    assert applied(recipe, after) == after


def test_isolation_is_proven(recipe):
    example = KNOWLEDGE.examples[recipe.id]
    proof = prove(example.name, example.before, example.after)
    assert proof.holds, proof.detail


def test_result_parses(recipe):
    example = KNOWLEDGE.examples[recipe.id]
    if PurePosixPath(example.name).suffix == ".py":
        assert ast.parse(example.after).body
    else:
        assert not CudaUnit(example.name, example.after).tree.root_node.has_error


def test_there_are_active_recipes():
    assert len(ACTIVE) >= 4
