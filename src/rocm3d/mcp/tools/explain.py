"""explain: show the record of a code, package, GPU or variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rocm3d.mcp.tool_response import ToolResponse, tool_response
from rocm3d.model.base import Record

if TYPE_CHECKING:
    from rocm3d.mcp.tool_context import ToolContext

TITLE = "Explain a name"
POSITION = 60


class Arguments(Record):
    """As `rocm3d explain WORD --format json`."""

    word: Annotated[
        str,
        Field(
            min_length=1, max_length=200, description="A code, package, GPU, environment variable, recipe or advice."
        ),
    ]


def work(arguments: Arguments, context: ToolContext) -> ToolResponse:
    """Show everything known about a code, package, GPU, variable, stack, family, recipe or advice.

    Includes sources and dates. For a misspelt name the closest names are suggested.
    """
    from rocm3d.knowledge.base import advice_about, find_record

    knowledge = context.load()
    record = find_record(arguments.word, knowledge)
    advice = [item.id for item in advice_about(record, knowledge)]
    related = f" Related advice: {', '.join(advice)}." if advice else ""
    return tool_response(record.model_dump(mode="json"), f"knowledge of {knowledge.date}.{related}", source="knowledge")
