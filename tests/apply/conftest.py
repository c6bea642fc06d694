"""Small plans for small trees."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rocm3d.model.finding import Finding
from rocm3d.model.plan import DependencyDecision, Plan, PlannedEdit
from rocm3d.model.target import Gpu


def finding(path: str, line: int = 1) -> Finding:
    return Finding(code="X1", rule="x", severity="error", path=path, line=line, column=1, message="m", hint="h")


def edit(rewrite: str, path: str, *, safety: str = "safe", recipe: str = "", **parameters: object) -> PlannedEdit:
    return PlannedEdit.model_validate(
        {
            "recipe": recipe or rewrite.replace("_", "-"),
            "rewrite": rewrite,
            "parameters": parameters,
            "safety": safety,
            "path": path,
            "findings": (finding(path),),
        }
    )


def decision(name: str, kind: str = "drop", **more: object) -> DependencyDecision:
    arguments = {"name": name, "package": name, "decision": kind, "route": "r", "reason": "why", **more}
    return DependencyDecision.model_validate(arguments)


def plan(*edits: PlannedEdit, **more: object) -> Plan:
    arguments = {
        "repository": "target",
        "gpu": Gpu(gfx="gfx942", product="mi300x", title="Instinct MI300X", wave_size=64, vram_gb=192),
        "stack": None,
        "base": None,
        "rejected_stacks": (),
        "decisions": (),
        "edits": edits,
        "answered": (),
        "left": (),
        "readiness": "needs-edits",
        "knowledge_date": "2026-11-15",
        **more,
    }
    return Plan.model_validate(arguments)


@pytest.fixture
def make_plan() -> Callable[..., Plan]:
    return plan


@pytest.fixture
def make_edit() -> Callable[..., PlannedEdit]:
    return edit


@pytest.fixture
def make_decision() -> Callable[..., DependencyDecision]:
    return decision


@pytest.fixture
def make_finding() -> Callable[..., Finding]:
    return finding
