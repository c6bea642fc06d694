"""Fixes of rules: which rewrite, under which conditions and with which parameters."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Identifier, Range, Status

Safety = Literal["safe", "review", "manual"]
"""safe: needs no reader; review: made, and marked for a reader; manual: printed, never made."""

Parameters = dict[str, str | int | bool | list[str]]


class Conditions(Record):
    """Where a recipe applies; empty means anywhere."""

    rocm: Range = ""
    torch: Range = ""
    wave_size: Literal[32, 64] | None = None


class RuleFix(Fact):
    """The fix of a rule. `also` lists codes of other findings about the same package that the edit resolves as well."""

    id: Identifier
    title: str
    also: tuple[str, ...] = ()
    family: str = Field(default="", description="that of the rule if empty")
    applies_when: Conditions = Conditions()
    rewrite: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    parameters: Parameters = Field(default={})
    safety: Safety
    check: str = Field(default="", description="what a reader of the edit checks, if safety is review")
    why: str
    changes_for_user: str
    since: str
    status: Status = "active"


class Recipe(RuleFix):
    """A fix with the code of its rule."""

    code: str
