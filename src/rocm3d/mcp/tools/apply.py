"""apply: make the planned edits and add the files of the port."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rocm3d.mcp.answer import Answer, answer
from rocm3d.mcp.arguments import Edits, NotEdits, Place, PlanHash, Review
from rocm3d.mcp.bench import kept_in
from rocm3d.model.base import Record

if TYPE_CHECKING:
    from rocm3d.mcp.bench import Bench
    from rocm3d.model.patch import Patch

TITLE = "Apply a plan"
POSITION = 30
PATHS = ("path", "into")
CHANGES = True


class Arguments(Record):
    """As `rocm3d apply PATH --review --only --skip --into --format json`, with the hash of the plan."""

    path: Place
    plan_hash: PlanHash
    review: Review = False
    only: Edits = ()
    skip: NotEdits = ()
    into: Annotated[
        str | None, Field(min_length=1, description="Port a copy in this new folder; the repository is not changed.")
    ] = None


def work(asked: Arguments, bench: Bench) -> Answer:
    """Make the edits of the plan with this hash: new files and guarded edits. NVIDIA builds see the same code (proven).

    Refuses if the plan or the repository has changed since. Works in place on a clean git tree, or on a copy (`into`).
    `undo` restores every byte, also after a cancelled call.
    """
    from rocm3d.mcp.planned import seen
    from rocm3d.model.patch import Patch
    from rocm3d.pipeline import COMMIT, EditSelection

    repository = bench.repository(asked.path)
    plan = seen(repository, asked.plan_hash, bench, asked.path)
    choice = EditSelection.from_options(asked.only, asked.skip, repository.knowledge)
    here = repository if asked.into is None else repository.into(Path(asked.into))
    here.documents.write(plan)
    document = here.apply(plan, review=asked.review, dry_run=False, choice=choice)
    proven = all(change.proof.holds for change in (*document.changes, *document.edited))
    return answer(
        document.model_dump(mode="json"),
        f"{summary(document)} {COMMIT}, next to the document, has the whole port for `git am`. Next: `verify`.",
        exit_code=int(not proven),
        kept_in=kept_in(here.documents, Patch),
    )


def summary(document: Patch) -> str:
    """The counts of a patch, without text of the repository."""
    added = sum(change.kind == "added" for change in document.changes)
    failed = sum(not change.proof.holds for change in (*document.changes, *document.edited))
    proofs = f"failed proofs: {failed}" if failed else "all proofs hold"
    return (
        f"Files added: {added}, files edited: {len(document.edited)}; {proofs}. Edits not made: "
        f"{len(document.refused)}, see refused for the reasons. Findings left for a person: {len(document.left)}."
    )
