"""kb_query: records of the knowledge base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from rocm3d.mcp.tool_response import ToolResponse, tool_response
from rocm3d.model.base import Record

if TYPE_CHECKING:
    from rocm3d.mcp.tool_context import ToolContext

TITLE = "Query the knowledge base"
POSITION = 70
Kind = Literal[
    "advice", "backends", "cards", "codes", "distributions", "families", "host", "indexes", "packages", "ports",
    "recipes", "stacks", "suites", "targets", "tolerances", "variables", "wheels",
]  # fmt: skip


class Arguments(Record):
    """As `rocm3d kb query KIND TEXT`."""

    kind: Annotated[Kind, Field(description="Which records.")]
    text: Annotated[str, Field(max_length=200, description="Only records that contain this text. Default: all.")] = ""


def work(arguments: Arguments, context: ToolContext) -> ToolResponse:
    """Show the records of a kind that contain a text, each with its sources and the date of its last check."""
    knowledge = context.load()
    matches = {
        name: record.model_dump(mode="json")
        for name, record in getattr(knowledge, arguments.kind).items()
        if arguments.text.lower() in record.model_dump_json().lower()
    }
    return tool_response(
        matches, f"Records of kind {arguments.kind}: {len(matches)}; knowledge of {knowledge.date}.", source="knowledge"
    )
