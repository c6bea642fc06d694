"""The result of `rocm3d fit`: score and memory of a known repository, and a comparison of cards for any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from rocm3d.model.errors import UserError
from rocm3d.model.fit import Fit, FitMemory, FitPoint, Viability
from rocm3d.model.port import MemoryNeed, Port, ViabilityPoint
from rocm3d.model.target import Gpu
from rocm3d.plan.card_facts import UNKNOWN, devices_of, fit_modes, memory_notes, offload_advice, per_device
from rocm3d.plan.comparison import ComparisonRequest, compare

FULL_SCORE = 5
_BANDS: tuple[tuple[int, Viability], ...] = ((5, "High"), (4, "Medium"), (3, "Medium-Low"), (2, "Low"))


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
    plan = request.plan
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


def rate_port(port: Port, ports: Mapping[str, Port], gpu: Gpu, as_of: date, devices: int = 1) -> Fit:
    """Score a repository for a GPU with the facts known at a date. A card of several devices counts as one of them."""
    if port.first_known is not None and as_of < port.first_known:
        raise UserError(f"{port.title} was not known on {as_of}", hint=f"use --as-of {port.first_known} or later")
    all_points = [point for item in _with_base_ports(port, ports) for point in item.points]
    relevant = [point for point in all_points if not point.gfx or gpu.gfx in point.gfx]
    closed = [point for point in relevant if point.until is not None and point.until <= as_of]
    points = [_fit_point(point) for point in relevant if point.since <= as_of and point not in closed]
    gb = per_device(gpu.vram_gb, devices)
    modes = fit_modes(memory_modes(port, ports, as_of), gb)
    points += [] if gb is None else _memory_points(modes, gb)
    score = FULL_SCORE + sum(point.effect for point in points)
    return Fit(
        model=port.id,
        title=port.title,
        gpu=gpu,
        as_of=as_of,
        viability="Not viable" if port.hosted else next((name for least, name in _BANDS if score >= least), "Very Low"),
        score=score,
        points=tuple(points),
        closed=tuple(_fit_point(point) for point in closed),
        memory=modes,
        notes=() if port.hosted else memory_notes(modes, gb, devices),
        offload=offload_advice(modes, gb),
        licence=port.licence,
        advice=port.advice,
    )


def memory_modes(port: Port, ports: Mapping[str, Port], as_of: date) -> tuple[MemoryNeed, ...]:
    """All modes known at a date, including those of the repositories it builds on."""
    return tuple(mode for part in _with_base_ports(port, ports) for mode in part.memory if mode.known <= as_of)


def _with_base_ports(port: Port, ports: Mapping[str, Port]) -> Iterator[Port]:
    visited: set[str] = set()
    while True:
        if port.id in visited:
            raise UserError(f"circular builds_on between ports: {', '.join(sorted(visited))}")
        visited.add(port.id)
        yield port
        if port.builds_on is None:
            return
        port = ports[port.builds_on]


def _fit_point(point: ViabilityPoint) -> FitPoint:
    until = "" if point.until is None else f" (until {point.until})"
    return FitPoint(effect=point.effect, why=f"{point.why}{until}", source=point.source.where)


def _memory_points(modes: Sequence[FitMemory], gb: float) -> list[FitPoint]:
    """The penalty for the mode that needs the most memory."""
    worst = max(modes, key=lambda mode: mode.gb, default=None)
    if worst is None or (worst.fits and not worst.tight):
        return []
    effect, problem = (-1, "leaves no headroom") if worst.fits else (-2, "does not fit")
    return [FitPoint(effect=effect, why=f"{worst.mode}: {worst.gb:g} GB {problem} in {gb:g} GB", source=worst.source)]
