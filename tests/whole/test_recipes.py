"""Every active recipe on its own examples."""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath

import pytest

from rocm3d.apply.rewrite import RewriteRefusedError, load_rewrite
from rocm3d.knowledge.load import load
from rocm3d.model.recipe import Recipe
from rocm3d.syntax.cuda import CUDA_SUFFIXES, CudaUnit
from rocm3d.syntax.guards import assume_cuda, assume_rocm, fold_cpp
from rocm3d.syntax.isolation import prove_isolation

KNOWLEDGE = load()
ACTIVE = [recipe for recipe in KNOWLEDGE.recipes.values() if recipe.status == "active"]


@pytest.fixture(params=ACTIVE, ids=[recipe.id for recipe in ACTIVE])
def recipe(request) -> Recipe:
    return request.param


def applied(recipe: Recipe, data: bytes) -> bytes:
    return load_rewrite(recipe.rewrite)(data, recipe.parameters)


def test_untouched_stays_untouched(recipe):
    untouched = KNOWLEDGE.examples[recipe.id].untouched
    try:
        result = applied(recipe, untouched)
    except RewriteRefusedError:
        result = untouched  # a refusal leaves the file alone, too
    assert result == untouched


def test_before_becomes_after(recipe):
    example = KNOWLEDGE.examples[recipe.id]
    assert applied(recipe, example.before) == example.after


def test_rewrite_is_idempotent(recipe):
    after = KNOWLEDGE.examples[recipe.id].after
    assert applied(recipe, after) == after


def test_every_edit_of_a_recipe_is_proven(recipe):
    example = KNOWLEDGE.examples[recipe.id]
    proof = prove_isolation(example.name, example.before, example.after)
    # An edit that can be proven must not be manual advice.
    assert proof.holds == (recipe.safety != "manual"), proof.detail


def parses(text: bytes) -> bool:
    """Not every CUDA file parses: the grammar lacks some attributes."""
    return not CudaUnit("", text).tree.root_node.has_error


def expand_port_macros(text: bytes) -> bytes:
    for name, body in re.findall(rb"#define (ROCM3D_(?!HAS_)\w+) ?(.*)\n", text):
        text = re.sub(rb"\b" + name + rb"\b", body, text.replace(b"#define " + name, b"#define OTHER"))
    return text


def test_result_parses(recipe):
    example = KNOWLEDGE.examples[recipe.id]
    if PurePosixPath(example.name).suffix == ".py":
        assert ast.parse(example.after).body
    elif PurePosixPath(example.name).suffix in CUDA_SUFFIXES and parses(example.before):
        assert parses(expand_port_macros(fold_cpp(example.after, assume_rocm)))
        assert parses(expand_port_macros(fold_cpp(example.after, assume_cuda)))


def test_some_recipes_are_active():
    assert len(ACTIVE) >= 4
