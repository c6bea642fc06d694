"""The porting method: rules, decision tree, phases, and the prompts that test the skill."""

from __future__ import annotations

from pydantic import Field

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Identifier


class MethodRule(Record):
    """A rule for every port. `advice` lists the ids of advice records about it."""

    title: str
    text: str
    advice: tuple[Identifier, ...] = ()


class DecisionBranch(Record):
    """One branch of the decision tree."""

    if_found: str
    then: str


class Phase(Record):
    """One phase of a port. `codes` lists prefixes of the diagnostic codes that belong to it."""

    number: int = Field(ge=0, le=8)
    title: str
    skip_if: str = ""
    do: tuple[str, ...] = Field(min_length=1)
    commands: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()


class SkillEval(Record):
    """A prompt that should, or should not, trigger the skill, and the expected behaviours."""

    id: Identifier
    prompt: str
    should_trigger: bool
    behaviours: tuple[str, ...] = ()


class Method(Fact):
    """knowledge/method.toml."""

    name: Identifier
    description: str = Field(max_length=1024, description="agents read it to decide whether to use the skill")
    rules: tuple[MethodRule, ...] = Field(min_length=5, max_length=5)
    tree: tuple[DecisionBranch, ...]
    phases: tuple[Phase, ...] = Field(min_length=9, max_length=9)
    verification: tuple[str, ...]
    evals: tuple[SkillEval, ...]
