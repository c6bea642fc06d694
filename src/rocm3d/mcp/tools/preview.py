"""preview: show the diff that apply would make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.mcp.answer import Answer, answer
from rocm3d.mcp.arguments import Edits, NotEdits, Place, PlanHash, Review
from rocm3d.model.base import Record

if TYPE_CHECKING:
    from rocm3d.mcp.bench import Bench

TITLE = "Preview a port"
POSITION = 25
PATHS = ("path",)


class Arguments(Record):
    """As `rocm3d apply PATH --dry-run --review --only --skip --format json`."""

    path: Place
    plan_hash: PlanHash
    review: Review = False
    only: Edits = ()
    skip: NotEdits = ()


def work(asked: Arguments, bench: Bench) -> Answer:
    """Show the diff that `apply` would make for the plan with this hash, with its proofs. Writes nothing."""
    from rocm3d.mcp.planned import seen
    from rocm3d.mcp.tools.apply import summary
    from rocm3d.pipeline import EditSelection

    repository = bench.repository(asked.path)
    plan = seen(repository, asked.plan_hash, bench, asked.path)
    choice = EditSelection.from_options(asked.only, asked.skip, repository.knowledge)
    document = repository.apply(plan, review=asked.review, dry_run=True, choice=choice)
    proven = all(change.proof.holds for change in (*document.changes, *document.edited))
    return answer(
        document.model_dump(mode="json"), f"{summary(document)} Nothing was written.", exit_code=int(not proven)
    )
