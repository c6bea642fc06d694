"""The result of `rocm3d fit`: score and memory of a known repository, and a comparison of cards for any."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.model.errors import UserError
from rocm3d.model.fit import Fit
from rocm3d.plan.card_facts import devices_of
from rocm3d.plan.comparison import ComparisonRequest, compare
from rocm3d.plan.memory import UNKNOWN
from rocm3d.plan.viability import memory_modes, rate_port

if TYPE_CHECKING:
    from datetime import date

    from rocm3d.model.plan import Plan
    from rocm3d.model.port import Port


def fitness(request: ComparisonRequest, port: Port | None, as_of: date) -> Fit:
    """Rate a known repository (`port`), a checkout with a plan, or both."""
    gpu, knowledge, plan = request.gpu, request.knowledge, request.plan
    if port is not None:
        document = rate_port(port, knowledge.ports, gpu, as_of, devices_of(gpu, knowledge))
        request = replace(request, memory=memory_modes(port, knowledge.ports, as_of))
    else:
        document = _unknown_repository(request, as_of)
    if plan is not None:
        document = document.model_copy(update={"repository": plan.repository})
    if as_of != request.today:
        note = f"no comparison of cards: it uses today's facts, not those of {as_of}"
        return document.model_copy(update={"notes": (*document.notes, note)})
    hosted = port is not None and port.hosted
    return document if hosted else document.model_copy(update={"comparison": compare(request)})


def _unknown_repository(request: ComparisonRequest, as_of: date) -> Fit:
    plan: Plan | None = request.plan
    if plan is None:
        raise UserError("no known repository and no checkout", hint="pass one of them")
    if as_of != request.today:
        raise UserError(f"{plan.repository} is not a known repository: no facts of {as_of}", hint="drop --as-of")
    return Fit(
        model=None,
        title=plan.repository,
        gpu=request.gpu,
        as_of=as_of,
        viability=None,
        score=None,
        notes=(UNKNOWN,),
    )
