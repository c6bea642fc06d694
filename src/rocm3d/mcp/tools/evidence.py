"""evidence: what was shown of a port or of a run, whether it was changed since, and how two runs differ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rocm3d.mcp.answer import Answer, answer
from rocm3d.mcp.bench import kept_in
from rocm3d.model.base import Record
from rocm3d.model.failure import UserError

if TYPE_CHECKING:
    from rocm3d.mcp.bench import Bench

TITLE = "Show the evidence"
POSITION = 90
PATHS = ("path", "against")


class Arguments(Record):
    """As `rocm3d report PATH --format json`, `rocm3d evidence check DIR` and `rocm3d evidence diff A B`."""

    path: Annotated[str, Field(min_length=1, description="A ported repository, or the bundle of a run; absolute.")]
    against: Annotated[str | None, Field(min_length=1, description="A second bundle: how does it differ?")] = None
    digest: Annotated[str, Field(max_length=64, description="The sha256 that you were told of a bundle.")] = ""
    run: Annotated[str, Field(max_length=200, description="The run to compare, where a bundle holds several.")] = ""


def work(asked: Arguments, bench: Bench) -> Answer:
    """Show the evidence of a ported repository, sealed by digest; or check the bundle of a run; or compare two runs.

    What was not obtained is shown as missing, with the reason.
    """
    from rocm3d.pipeline import is_bundle

    if asked.against is not None:
        return _difference(asked, Path(asked.against))
    if not Path(asked.path).is_dir():
        raise UserError("path is no folder", hint="give a ported repository, or the bundle of a run")
    return _bundle(asked) if is_bundle(Path(asked.path)) else _port(asked, bench)


def _port(asked: Arguments, bench: Bench) -> Answer:
    from rocm3d.model.evidence import Evidence

    repository = bench.repository(asked.path)
    report = repository.report()
    tally, altered = report.document.tally, any(item.altered for item in report.runs)
    return answer(
        report.document.model_dump(mode="json"),
        f"{tally.changed} changed, {tally.left_for_person} left for a person, {tally.rejected} rejected with reason, "
        f"{tally.not_verified} not verified; {len(report.moved)} documents are no longer what was sealed.",
        exit_code=int(bool(report.moved) or altered),
        kept_in=kept_in(repository.documents, Evidence),
    )


def _bundle(asked: Arguments) -> Answer:
    from rocm3d.pipeline import check_bundle

    document = check_bundle(Path(asked.path), asked.digest)
    told = f"{document.sealed} files sealed, {len(document.altered)} changed since."
    return answer(document.model_dump(mode="json"), told, exit_code=int(bool(document.altered)))


def _difference(asked: Arguments, other: Path) -> Answer:
    from rocm3d.pipeline import compare_bundles

    document = compare_bundles(Path(asked.path), other, asked.run)
    told = (
        f"{len(document.rows)} points compared; the second one lacks or fails {len(document.worse)} that the first has."
    )
    return answer(document.model_dump(mode="json"), told, exit_code=int(bool(document.worse)))
