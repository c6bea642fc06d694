"""A diagnostic code: the one copy of its texts, read by terminal, reports, `explain` and docs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Record
from rocm3d.model.finding import Severity
from rocm3d.model.source import Fact, Status

Answer = Literal["recipe", "decision", "addition", "person"]
"""recipe: an edit; decision: the route of the package; addition: the port's own files; person: nothing of ours."""

Effort = Literal["none", "minutes", "hours", "rewrite"]
"""none: nothing to do; minutes: a known edit; hours: needs understanding; rewrite: the algorithm has to change."""

Kind = Literal[
    "DEP", "PIN", "INC", "LAUNCH", "MASK", "WAVE", "CG", "CUB", "CCCL", "VEC", "HOSTDEV", "INTRIN", "ASM", "ATOMIC",
    "FLAG", "DETECT", "MACRO", "HYGIENE", "GATE", "SHIM", "ENV", "DISABLE", "NUM", "RT", "ABI",
]  # fmt: skip
"""What people change in a port, by kind; benchmarks/corpus.py scores findings against labels of these kinds."""


class Code(Fact):
    """An entry of knowledge/codes.toml. `message` and `hint` may use the {facts} that the detector gives."""

    code: str = Field(pattern=r"^(DEP|PY|CU|BLD|RUN|NUM|KB|ENV)[0-9]{3}$")
    rule: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    severity: Severity
    message: str
    hint: str
    help: str = ""
    cdna: str = ""
    rdna: str = ""
    example: str = ""
    terms: dict[str, str] = Field(default={}, description="what the detector looks for, each with the reason")
    errors: tuple[str, ...] = Field(
        default=(), description="what a compiler says where it is there: patterns over message, source line and notes"
    )
    kinds: tuple[Kind, ...] = Field(default=(), description="which changes of people's ports it stands for")
    answered_by: Answer = "recipe"
    effort: Effort = Field(default="minutes", description="what one place costs a person where nothing answers it")
    family: str | None = None
    package: str | None = Field(default=None, description="what it is always about, where the detector names none")
    since: str
    status: Status = "active"

    @property
    def is_around(self) -> bool:
        """Whether it is about what is installed, from where and with which settings, and not about the program."""
        return bool(self.kinds) and set(self.kinds) <= {"DEP", "PIN", "ENV"}


class CodeTable(Record):
    """The whole of codes.toml."""

    codes: tuple[Code, ...]
