"""Diagnostic codes with their texts, for the terminal, reports, `explain` and the documentation."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.finding import Severity
from rocm3d.model.source import Fact, Status

FixKind = Literal["recipe", "decision", "addition", "person"]
"""recipe: an edit; decision: the route of the package; addition: a file in rocm-port/; person: manual work."""

Effort = Literal["none", "minutes", "hours", "rewrite"]
"""none: nothing to do; minutes: a known edit; hours: needs analysis; rewrite: the algorithm has to change."""

ChangeKind = Literal[
    "DEP", "PIN", "INC", "LAUNCH", "MASK", "WAVE", "CG", "CUB", "CCCL", "VEC", "HOSTDEV", "INTRIN", "ASM", "ATOMIC",
    "FLAG", "DETECT", "MACRO", "HYGIENE", "GATE", "SHIM", "ENV", "DISABLE", "NUM", "RT", "ABI",
]  # fmt: skip
"""Kinds of changes in real ports. benchmarks/corpus.py scores findings against labels of these kinds."""


class Code(Fact):
    """The texts of a rule. `message` and `hint` may use {facts} that the detector provides."""

    code: str = Field(pattern=r"^(DEP|PY|CU|BLD|RUN|NUM|KB|ENV)[0-9]{3}$")
    rule: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    severity: Severity
    message: str
    hint: str
    help: str = ""
    cdna: str = ""
    rdna: str = ""
    example: str = ""
    example_after: str = Field(default="", description="the example after a manual edit, if no case of a fix shows one")
    action: str = Field(default="", description="what a person does where no edit was made; if empty: the hint")
    terms: dict[str, str] = Field(default={}, description="strings that the detector searches for, with the reason")
    errors: tuple[str, ...] = Field(
        default=(), description="patterns over compiler errors that it causes: message, source line and notes"
    )
    kinds: tuple[ChangeKind, ...] = Field(
        default=(), description="kinds of changes in real ports that it corresponds to"
    )
    answered_by: FixKind = "recipe"
    effort: Effort = Field(default="minutes", description="manual effort for one finding without an automatic fix")
    family: str | None = None
    package: str | None = Field(default=None, description="the package it is about, if the detector names none")
    since: str
    status: Status = "active"

    @property
    def is_about_environment(self) -> bool:
        """Whether it is about installed packages and settings only, and not about the source code."""
        return bool(self.kinds) and set(self.kinds) <= {"DEP", "PIN", "ENV"}
