"""The response of a tool: the document of the command line, and a summary for the agent."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from rocm3d.mcp.untrusted_text import NOTICE, truncate_document
from rocm3d.model.base import Record
from rocm3d.model.port_state import PortState
from rocm3d.render.rungs import rung_line

# Maximum characters of the state in a response; its lists of open items are truncated.
MAX_STATE = 8_000


class TruncatedList(Record):
    at: str = Field(description="JSON pointer to the list")
    shown: int
    of: int


class ToolResponse(Record):
    """`document` is the JSON that the command prints, without invisible characters; `left_out` lists what was cut."""

    summary: str = Field(description="written by rocm3d; contains no text of the repository")
    exit_code: int = Field(description="of the command: 0 done, 1 findings or failure, 4 this machine cannot do it")
    source: Literal["repository", "knowledge", "machine"] = Field(description="origin of the strings in `document`")
    notice: str = Field(default="", description="how to treat these strings")
    plan_hash: str = Field(default="", description="of a plan: pass it to `preview` and `apply`")
    kept_in: str = Field(default="", description="file with all of the document")
    state: dict[str, Any] = Field(default={}, description="how far the port is")
    left_out: tuple[TruncatedList, ...] = ()
    document: dict[str, Any]


def tool_response(  # noqa: PLR0913  (the parts of a response)
    document: dict[str, Any],
    summary: str,
    *,
    exit_code: int = 0,
    source: Literal["repository", "knowledge", "machine"] = "repository",
    plan_hash: str = "",
    kept_in: str = "",
    state: PortState | None = None,
) -> ToolResponse:
    """Build a response: invisible characters are replaced and long documents truncated.

    The summary ends with the rungs of the state; the names in `state` are text of the repository.
    """
    truncated = truncate_document(document)
    if state is not None:
        summary = f"{summary} State: {rung_line(state)}; tasks for a person: {state.tasks}."
    return ToolResponse(
        summary=summary
        + ("" if truncated.is_complete else " The document is truncated: see left_out; kept_in has all of it."),
        exit_code=exit_code,
        source=source,
        notice="" if source == "knowledge" else NOTICE,
        plan_hash=plan_hash,
        kept_in=kept_in,
        left_out=tuple(TruncatedList.model_validate(entry) for entry in truncated.left_out),
        document=truncated.document,
        state={} if state is None else truncate_document(state.model_dump(mode="json"), MAX_STATE).document,
    )
