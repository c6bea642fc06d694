"""kb_query, explain and fit as tools: same result as the command line."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from rocm3d.cli.kb import KINDS
from rocm3d.mcp.tools.kb_query import Kind
from rocm3d.model.errors import UserError


def test_unknown_kind_is_refused(work):
    with pytest.raises(UserError, match="kind: Input should be"):
        work("kb_query", kind="secrets")


def test_unknown_name_suggests_the_closest(work):
    with pytest.raises(UserError) as refused:
        work("explain", word="gsplatt")

    assert "gsplat" in refused.value.hint


def test_fit_needs_one_subject(work):
    with pytest.raises(UserError, match="either path or model"):
        work("fit", gpu="mi300x")


def test_the_kinds_are_those_of_the_command_line():
    assert get_args(Kind) == KINDS


def test_records_are_those_of_the_command_line(work, rocm3d):
    answer = work("kb_query", kind="packages", text="gsplat")

    assert answer.document == json.loads(rocm3d("kb", "query", "packages", "gsplat").out)
    assert (answer.source, answer.notice) == ("knowledge", "")


def test_a_record_is_that_of_the_command_line(work, rocm3d):
    assert work("explain", word="CU101").document == json.loads(rocm3d("explain", "CU101", "--format", "json").out)


def test_fit_equals_the_command_line(work, rocm3d, example):
    target = example("splat-trainer")
    ended = rocm3d("fit", target, "--gpu", "mi300x", "--format", "json", "-q")

    assert work("fit", path=str(target), gpu="mi300x").document == json.loads(ended.out)


def test_known_repository_is_assessed_by_name(work, knowledge):
    name = next(iter(knowledge.ports))

    assert work("fit", model=name, gpu="mi300x").document["model"] == name
