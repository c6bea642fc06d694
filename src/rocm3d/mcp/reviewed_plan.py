"""Plans by hash: `apply` accepts only the plan that the caller reviewed, and only if it is still up to date."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING

from pydantic import ValidationError

from rocm3d.mcp.tool_context import document_digest
from rocm3d.model.base import Record
from rocm3d.model.errors import UserError
from rocm3d.model.plan import Plan
from rocm3d.model.plan_choices import Platform, Preference

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocm3d.pipeline import Repository

_ARGUMENTS_FILE = "plan-asked.json"
_PLAN_AGAIN_HINT = "call `plan` again, review it, and pass its plan_hash"


class PlanArguments(Record):
    """The arguments of a plan, stored so that it can be repeated."""

    gpu: str | None
    stack: str | None
    rocm: str
    prefer: Preference
    platform: Platform
    isolated: bool = False


def make_plan(repository: Repository, arguments: PlanArguments) -> tuple[Plan, str]:
    """Make a plan. Returns it with the hash of its document, and stores its arguments next to it."""
    from rocm3d.pipeline import PlanOptions, resolve_gpu

    if arguments.isolated:
        repository.ignore_settings()
    gpu = resolve_gpu(arguments.gpu, repository.knowledge)
    plan = repository.plan(gpu, PlanOptions(arguments.stack, arguments.rocm, arguments.prefer, arguments.platform))
    if not repository.reads_only:
        repository.documents.write_own(_ARGUMENTS_FILE, arguments.model_dump_json().encode() + b"\n")
    return plan, hashlib.sha256(plan.to_json().encode()).hexdigest()


def reviewed_plan(repository: Repository, plan_hash: str, progress: Callable[[str], None]) -> Plan:
    """The plan with this hash. UserError if it is missing, has another hash, or would be different now."""
    documents = repository.documents
    if documents.find(Plan) is None:
        raise UserError("this folder has no plan", hint="call `plan` first")
    if not hmac.compare_digest(document_digest(documents, Plan), plan_hash):
        raise UserError("the plan of this folder has another plan_hash", hint=_PLAN_AGAIN_HINT)
    arguments = documents.read_bytes(_ARGUMENTS_FILE)
    if arguments is not None:
        progress("planning again")
        if not hmac.compare_digest(make_plan(repository, _parse_arguments(arguments))[1], plan_hash):
            raise UserError("the repository has changed since this plan was made", hint=_PLAN_AGAIN_HINT)
    plan = documents.read(Plan)
    plan.require_licences(repository.settings.licence_policy)
    return plan


def _parse_arguments(data: bytes) -> PlanArguments:
    try:
        return PlanArguments.model_validate_json(data)
    except ValidationError as error:
        raise UserError(f"{_ARGUMENTS_FILE} is damaged", hint=_PLAN_AGAIN_HINT) from error
