"""What a tool answers: the document of the command line beside what only an agent needs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from rocm3d.mcp.marking import NOTICE, fit
from rocm3d.model.base import Record


class LeftOut(Record):
    """A list that goes on."""

    at: str = Field(description="the keys that lead to it, as a JSON pointer")
    shown: int
    of: int


class Answer(Record):
    """`document` is the JSON that the command prints, without unseen characters; `left_out` says where it was cut."""

    summary: str = Field(description="in words of rocm3d alone: no text of the repository")
    exit_code: int = Field(
        description="of the same command: 0 done, 1 findings or failure, 4 this machine lacks something"
    )
    source: Literal["repository", "knowledge", "machine"] = Field(description="where strings in `document` come from")
    notice: str = Field(default="", description="how to take them")
    plan_hash: str = Field(default="", description="of a plan: hand it to `preview` and `apply`")
    kept_in: str = Field(default="", description="the file with the whole document")
    left_out: tuple[LeftOut, ...] = ()
    document: dict[str, Any]


def answer(  # noqa: PLR0913  (an answer has these parts)
    document: dict[str, Any],
    summary: str,
    *,
    exit_code: int = 0,
    source: Literal["repository", "knowledge", "machine"] = "repository",
    plan_hash: str = "",
    kept_in: str = "",
) -> Answer:
    """An answer that is safe to show and short enough to read."""
    cut = fit(document)
    return Answer(
        summary=summary + ("" if cut.whole else " The document is cut: kept_in and left_out say where the rest is."),
        exit_code=exit_code,
        source=source,
        notice="" if source == "knowledge" else NOTICE,
        plan_hash=plan_hash,
        kept_in=kept_in,
        left_out=tuple(LeftOut.model_validate(item) for item in cut.left_out),
        document=cut.document,
    )
