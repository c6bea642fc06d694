"""fit: will it fit, is it viable, and on whose card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rocm3d.mcp.answer import Answer, answer
from rocm3d.mcp.arguments import Gpu, Word
from rocm3d.model.base import Record
from rocm3d.model.failure import UserError

if TYPE_CHECKING:
    from rocm3d.mcp.bench import Bench
    from rocm3d.model.fit import Fit

TITLE = "Fit on a GPU"
POSITION = 80
PATHS = ("path",)


class Arguments(Record):
    """As `rocm3d fit PATH|MODEL --gpu --against --format json`; one of `path` and `model`."""

    path: Annotated[str | None, Field(min_length=1, description="A checkout's folder, absolute.")] = None
    model: Annotated[str | None, Field(max_length=200, description="A known repository; see kb_query ports.")] = None
    gpu: Gpu = None
    against: Annotated[
        tuple[Word, ...], Field(max_length=10, description="NVIDIA cards to compare with; left out: the nearest.")
    ] = ()


def work(asked: Arguments, bench: Bench) -> Answer:
    """Tell whether a repository fits a GPU and is worth trying, and compare that GPU with NVIDIA cards for it.

    Every figure has its source and date. Of a checkout the dependencies are planned as well.
    """
    from rocm3d.pipeline import fit_model, resolve_gpu

    if (asked.path is None) == (asked.model is None):
        raise UserError("fit wants either a path or a model", hint="give one of them")
    if asked.model is not None:
        knowledge = bench.load()
        document = fit_model(asked.model, resolve_gpu(asked.gpu, knowledge), knowledge, None, asked.against)
        return answer(document.model_dump(mode="json"), _summary(document), source="knowledge")
    assert asked.path is not None
    repository = bench.repository(asked.path)
    gpu = resolve_gpu(asked.gpu or bench.configuration(asked.path).gpu, repository.knowledge)
    document = repository.fit(gpu, None, asked.against)
    return answer(document.model_dump(mode="json"), _summary(document))


def _summary(document: Fit) -> str:
    judged = f"viability {document.viability}, score {document.score}" if document.viability else "no record judges it"
    return f"{document.gpu.title} ({document.gpu.gfx}): {judged}; knowledge used as of {document.as_of}."
