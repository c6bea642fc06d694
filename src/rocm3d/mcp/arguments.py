"""Arguments that several tools share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

RepositoryPath = Annotated[
    str,
    Field(min_length=1, description="Absolute path of the repository, in a folder that client and server allow."),
]
Gpu = Annotated[
    str | None,
    Field(max_length=100, description="Product or gfx id, such as mi300x. Default: the AMD GPU of this machine."),
]
ShortString = Annotated[str, Field(max_length=200)]
Rules = Annotated[tuple[ShortString, ...], Field(max_length=100, description="Only these rules or code prefixes.")]
NotRules = Annotated[
    tuple[ShortString, ...], Field(max_length=100, description="Without these rules or code prefixes.")
]
Edits = Annotated[
    tuple[ShortString, ...], Field(max_length=100, description="Only edits of these rules, code prefixes or recipes.")
]
NotEdits = Annotated[
    tuple[ShortString, ...],
    Field(max_length=100, description="Without edits of these rules, code prefixes or recipes."),
]
Isolated = Annotated[
    bool, Field(description="Ignore the repository's own settings and its ignore comments, which hide findings.")
]
SafeOnly = Annotated[bool, Field(description="Leave out the edits that somebody should read.")]
PlanHash = Annotated[
    str, Field(pattern="^[0-9a-f]{64}$", description="`plan_hash` of the last call of `plan` for this folder.")
]
