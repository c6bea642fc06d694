"""Plans by hash: `apply` accepts only the plan that the caller reviewed, and only if it is still up to date."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from pydantic import ValidationError

from rocm3d.mcp.bench import Bench, digest
from rocm3d.model.base import Record
from rocm3d.model.failure import UserError
from rocm3d.model.plan import Plan
from rocm3d.model.wish import Platform, Preference

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.pipeline import Repository

_ASKED = "plan-asked.json"
_AGAIN = "call `plan` again, review it, and pass its plan_hash"


class Asked(Record):
    """The arguments of a plan, stored so that it can be repeated."""

    gpu: str | None
    stack: str | None
    rocm: str
    prefer: Preference
    platform: Platform


def make(repository: Repository, asked: Asked) -> tuple[Plan, str]:
    """Make a plan. Returns it with its hash, and stores its arguments next to it."""
    from rocm3d.pipeline import PlanOptions, resolve_gpu

    gpu = resolve_gpu(asked.gpu, repository.knowledge)
    plan = repository.plan(gpu, PlanOptions(asked.stack, asked.rocm, asked.prefer, asked.platform))
    repository.documents.write_text(repository.documents.folder / _ASKED, asked.model_dump_json() + "\n")
    return plan, digest(repository.documents, Plan)


def seen(repository: Repository, plan_hash: str, bench: Bench, path: str) -> Plan:
    """The plan with this hash. UserError if it is missing, has another hash, or would be different now."""
    documents = repository.documents
    if documents.find(Plan) is None:
        raise UserError("this folder has no plan", hint="call `plan` first")
    if not hmac.compare_digest(digest(documents, Plan), plan_hash):
        raise UserError("the plan of this folder has another plan_hash", hint=_AGAIN)
    place = documents.folder / _ASKED
    if place.is_file():
        bench.progress("planning again")
        if not hmac.compare_digest(make(repository, _asked(place))[1], plan_hash):
            raise UserError("the repository has changed since this plan was made", hint=_AGAIN)
    plan = documents.read(Plan)
    refused = plan.licence_refusal(bench.configuration(path).licence_policy)
    if refused is not None:
        raise UserError(refused)
    return plan


def _asked(place: Path) -> Asked:
    try:
        return Asked.model_validate_json(place.read_bytes())
    except (OSError, ValidationError) as error:
        raise UserError(f"{_ASKED} is damaged", hint=_AGAIN) from error
