"""evidence: show the evidence of a port or a run, check it for alterations, or compare two runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rocm3d.mcp.tool_context import document_path
from rocm3d.mcp.tool_response import ToolResponse, tool_response
from rocm3d.model.base import Record
from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from rocm3d.mcp.tool_context import ToolContext

TITLE = "Show the evidence"
POSITION = 90
PATHS = ("path", "against")


class Arguments(Record):
    """As `rocm3d report PATH --format json`, `rocm3d evidence check DIR` and `rocm3d evidence diff A B`."""

    path: Annotated[str, Field(min_length=1, description="A ported repository, or the bundle of a run; absolute.")]
    against: Annotated[str | None, Field(min_length=1, description="A second bundle to compare with.")] = None
    digest: Annotated[str, Field(max_length=64, description="The expected sha256 of the bundle.")] = ""
    run: Annotated[str, Field(max_length=200, description="The run to compare, if a bundle has several.")] = ""


def work(arguments: Arguments, context: ToolContext) -> ToolResponse:
    """Show the evidence of a ported repository, sealed by digest; or check the bundle of a run; or compare two runs.

    Missing evidence is listed with the reason.
    """
    from rocm3d.pipeline import is_bundle

    if arguments.against is not None:
        return _compare(arguments, Path(arguments.against))
    if not Path(arguments.path).is_dir():
        raise UserError("path is not a folder", hint="pass a ported repository, or the bundle of a run")
    return _check_bundle(arguments) if is_bundle(Path(arguments.path)) else _port_evidence(arguments, context)


def _port_evidence(arguments: Arguments, context: ToolContext) -> ToolResponse:
    from rocm3d.model.evidence import Evidence

    repository = context.repository(arguments.path, any_folder=True)
    report = repository.report()
    altered = any(item.altered for item in report.runs)
    return tool_response(
        report.document.model_dump(mode="json"),
        f"Documents altered after they were sealed: {len(report.moved)}.",
        exit_code=int(bool(report.moved) or altered),
        kept_in=document_path(repository.documents, Evidence),
        state=report.state,
    )


def _check_bundle(arguments: Arguments) -> ToolResponse:
    from rocm3d.pipeline import check_bundle

    document = check_bundle(Path(arguments.path), arguments.digest)
    summary = f"Sealed files: {document.sealed}; altered since: {len(document.altered)}."
    return tool_response(document.model_dump(mode="json"), summary, exit_code=int(bool(document.altered)))


def _compare(arguments: Arguments, other: Path) -> ToolResponse:
    from rocm3d.pipeline import compare_bundles

    document = compare_bundles(Path(arguments.path), other, arguments.run)
    summary = (
        f"Values compared: {len(document.rows)}; missing or failed only in the second bundle: {len(document.worse)}."
    )
    return tool_response(document.model_dump(mode="json"), summary, exit_code=int(bool(document.worse)))
