"""kb_query: records of the knowledge base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from rocm3d.mcp.answer import Answer, answer
from rocm3d.model.base import Record

if TYPE_CHECKING:
    from rocm3d.mcp.bench import Bench

TITLE = "Query the knowledge base"
POSITION = 70
Kind = Literal[
    "advice", "backends", "cards", "codes", "families", "host", "packages", "ports",
    "recipes", "stacks", "suites", "targets", "tolerances", "variables",
]  # fmt: skip


class Arguments(Record):
    """As `rocm3d kb query KIND TEXT`."""

    kind: Annotated[Kind, Field(description="Which records.")]
    text: Annotated[str, Field(max_length=200, description="Only records that contain this text. Default: all.")] = ""


def work(asked: Arguments, bench: Bench) -> Answer:
    """Show the records of a kind that contain a text, each with its sources and the date of its last check."""
    knowledge = bench.load()
    found = {
        name: record.model_dump(mode="json")
        for name, record in getattr(knowledge, asked.kind).items()
        if asked.text.lower() in record.model_dump_json().lower()
    }
    return answer(
        found, f"Records of kind {asked.kind}: {len(found)}; knowledge of {knowledge.date}.", source="knowledge"
    )
