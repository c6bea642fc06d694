"""fit: does a repository fit a GPU, is it viable, and how does the GPU compare with NVIDIA cards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rocm3d.mcp.arguments import Gpu, ShortString
from rocm3d.mcp.tool_response import ToolResponse, tool_response
from rocm3d.model.base import Record
from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from rocm3d.mcp.tool_context import ToolContext
    from rocm3d.model.fit import Fit

TITLE = "Fit on a GPU"
POSITION = 80
PATHS = ("path",)


class Arguments(Record):
    """As `rocm3d fit PATH|MODEL --gpu --against --format json`, with either `path` or `model`."""

    path: Annotated[str | None, Field(min_length=1, description="Absolute path of a checkout.")] = None
    model: Annotated[str | None, Field(max_length=200, description="A known repository; see kb_query ports.")] = None
    gpu: Gpu = None
    against: Annotated[
        tuple[ShortString, ...], Field(max_length=10, description="NVIDIA cards to compare with. Default: the closest.")
    ] = ()


def work(arguments: Arguments, context: ToolContext) -> ToolResponse:
    """Check whether a repository fits a GPU and is viable on it, and compare the GPU with NVIDIA cards.

    Every number has its source and date. For a checkout the dependencies are planned too.
    """
    from rocm3d.pipeline import fit_model, resolve_gpu

    if (arguments.path is None) == (arguments.model is None):
        raise UserError("fit needs either path or model", hint="pass one of them")
    if arguments.model is not None:
        knowledge = context.load()
        document = fit_model(arguments.model, resolve_gpu(arguments.gpu, knowledge), knowledge, None, arguments.against)
        return tool_response(document.model_dump(mode="json"), _summary(document), source="knowledge")
    assert arguments.path is not None
    repository = context.repository(arguments.path)
    gpu = resolve_gpu(arguments.gpu or repository.settings.gpu, repository.knowledge)
    document = repository.fit(gpu, None, arguments.against)
    return tool_response(document.model_dump(mode="json"), _summary(document))


def _summary(document: Fit) -> str:
    viability = f"viability {document.viability}, score {document.score}" if document.viability else "no record"
    return f"{document.gpu.title} ({document.gpu.gfx}): {viability}; knowledge used as of {document.as_of}."
