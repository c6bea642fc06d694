"""plan: choose stack, routes and edits for one GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rocm3d.mcp.arguments import Gpu, Isolated, RepositoryPath
from rocm3d.mcp.tool_context import document_path
from rocm3d.mcp.tool_response import ToolResponse, tool_response
from rocm3d.model.base import Record
from rocm3d.model.plan_choices import Platform, Preference

if TYPE_CHECKING:
    from rocm3d.mcp.tool_context import ToolContext
    from rocm3d.model.plan import Plan
    from rocm3d.pipeline import Repository

TITLE = "Plan a port"
POSITION = 20
PATHS = ("path",)


class Arguments(Record):
    """As `rocm3d plan PATH --gpu --stack --rocm --prefer --platform --isolated --format json`."""

    path: RepositoryPath
    gpu: Gpu = None
    stack: Annotated[str | None, Field(max_length=100, description="Use this stack; see kb_query stacks.")] = None
    rocm: Annotated[str, Field(max_length=100, description="Only stacks of this ROCm release or range.")] = ""
    prefer: Annotated[Preference, Field(description="Which stack wins if several are equally good.")] = "stable"
    platform: Annotated[Platform, Field(description="The operating system that the port runs on.")] = "linux"
    isolated: Isolated = False


def work(arguments: Arguments, context: ToolContext) -> ToolResponse:
    """Choose the stack, a route for every dependency, and the edits, with reasons and rejected alternatives.

    Changes no file of the repository. The response has a `plan_hash`, which `preview` and `apply` require.
    """
    from rocm3d.mcp.reviewed_plan import PlanArguments, make_plan
    from rocm3d.model.plan import Plan

    repository = context.repository(arguments.path, isolated=arguments.isolated)
    plan_arguments = PlanArguments(
        gpu=arguments.gpu or repository.settings.gpu,
        stack=arguments.stack,
        rocm=arguments.rocm,
        prefer=arguments.prefer,
        platform=arguments.platform,
        isolated=arguments.isolated,
    )
    document, plan_hash = make_plan(repository, plan_arguments)
    refused = document.licence_refusal(repository.settings.licence_policy) is not None
    return tool_response(
        document.model_dump(mode="json"),
        _summary(document, plan_hash, _from_settings(arguments, repository), refused=refused),
        exit_code=int(document.stack is None or refused),
        plan_hash=plan_hash,
        kept_in=document_path(repository.documents, Plan),
    )


def _from_settings(arguments: Arguments, repository: Repository) -> str:
    """What the repository decided by its settings."""
    is_chosen = arguments.gpu is None and repository.settings.gpu is not None
    return f" The GPU is set in {repository.settings.source}." * is_chosen


def _summary(document: Plan, plan_hash: str, from_settings: str, *, refused: bool) -> str:
    hidden = sum(item.count for item in document.hidden)
    if hidden:
        from_settings += f" Findings that the repository hides: {hidden}, see hidden; `isolated` plans for them too."
    gpu, stack = document.gpu, document.stack
    base = f"stack {stack.id}" if stack else "no stack supports it"
    blocked = sum(item.decision == "blocked" for item in document.decisions)
    safe = sum(edit.safety == "safe" for edit in document.edits)
    policy = " The repository's licence policy refuses this plan: see licences." if refused else ""
    return (
        f"{gpu.title} ({gpu.gfx}): {base}. Dependencies: {len(document.decisions)}, {blocked} of them blocked. "
        f"Planned edits: {len(document.edits)}, {safe} of them safe. Findings left for a person: {len(document.left)}. "
        f"plan_hash {plan_hash}.{from_settings}{policy} Next: `preview`, then `apply`, with this plan_hash."
    )
