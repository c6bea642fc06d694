"""Renders one record of the knowledge base as plain text, with sources and dates."""

from __future__ import annotations

import shlex
from functools import singledispatch
from typing import TYPE_CHECKING

from rocm3d.model.advice import Advice
from rocm3d.model.backend import Backend
from rocm3d.model.card import Card
from rocm3d.model.code import Code
from rocm3d.model.condition import Condition
from rocm3d.model.family import Family
from rocm3d.model.package import Package, Route
from rocm3d.model.port import Port
from rocm3d.model.recipe import Recipe
from rocm3d.model.stack import Stack
from rocm3d.model.target import Target
from rocm3d.model.tolerance import Tolerance
from rocm3d.model.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocm3d.model.source import Fact


def render(record: Fact, related: Iterable[Advice] = ()) -> str:
    """`related` is advice about the same subject."""
    advice_lines = _bullet_list("common advice", (f"{item.claim} ({item.verdict}; {item.id})" for item in related))
    return "\n".join([*_lines(record), *advice_lines, "", *_provenance(record)]) + "\n"


def _provenance(record: Fact) -> Iterator[str]:
    yield f"checked {record.checked}, {record.confidence}"
    for source in record.sources:
        yield f"  source: {source.where}" + (f" ({source.says})" if source.says else "")


def _bullet_list(title: str, items: Iterable[str]) -> Iterator[str]:
    lines = list(items)
    if lines:
        yield ""
        yield f"{title}:"
        yield from (f"  - {item}" for item in lines)


@singledispatch
def _lines(record: Fact) -> Iterator[str]:
    yield repr(record)


@_lines.register(Code)
def _code(record: Code) -> Iterator[str]:
    yield f"{record.code} {record.rule} ({record.severity}, {record.status}, since {record.since})"
    yield ""
    yield record.message
    yield record.help.strip()
    yield ""
    yield f"what to do: {record.hint}"
    yield from (f"{name}: {text}" for name, text in (("CDNA", record.cdna), ("RDNA", record.rdna)) if text)
    if record.example:
        yield f"example: {record.example}"
    yield from _bullet_list("searches for", (f"{term}: {why}" for term, why in record.terms.items()))


@_lines.register(Package)
def _package(record: Package) -> Iterator[str]:
    yield f"{record.id}: {record.purpose}"
    yield f"family {record.family}; pip {', '.join(record.pip) or '-'}; import {', '.join(record.imports) or '-'}"
    if record.licence is not None:
        note = f" ({record.licence.note})" if record.licence.note else ""
        yield f"licence: {record.licence.name}{note}"
        if record.licence.wording:
            yield f"suggested wording: {record.licence.wording}"
    yield from _bullet_list("traps", record.traps)
    for route in sorted(record.routes, key=lambda route: route.rank):
        yield ""
        yield from _route(route)


def _route(route: Route) -> Iterator[str]:
    yield f"route {route.id} (rank {route.rank}, {route.status}): {route.decision} - {route.summary}"
    limits = [
        f"{name} {text}"
        for name, text in (("ROCm", route.rocm), ("torch", route.torch), ("Python", route.python))
        if text
    ]
    limits += [", ".join(items) for items in (route.gfx, route.products) if items]
    if limits:
        yield f"  for {'; '.join(limits)}"
    if route.loses:
        yield f"  loses: {route.loses}"
    yield from (f"  needs {name} {specifier}" for name, specifier in route.needs.items())
    yield from (f"  moves {name} to {version}" for name, version in route.moves.items())
    if route.unless_imported:
        yield "  only if the program does not import it at the top of a module"
    yield from (f"  {name}={value}" for name, value in route.env.items())
    yield from (f"  $ {shlex.join(command)}" for command in route.commands)
    if route.proof:
        yield f"  proof: {route.proof}"
    yield from (f"  trap: {trap}" for trap in route.traps)
    yield from (f"  {line}" for line in _provenance(route))


@_lines.register(Target)
def _target(record: Target) -> Iterator[str]:
    yield f"{record.gfx}: {record.title} ({record.architecture})"
    yield f"waves of {record.wave_size} lanes, LDS {record.lds_kib} KiB, FP8 {record.fp8}, matrix {record.matrix}"
    yield f"ROCm {record.rocm}"
    for product in record.products:
        memory = "shared memory" if product.vram_gb is None else f"{product.vram_gb} GB"
        mark = " (default)" if product.id == record.default_product else ""
        yield f"  {product.id}: {product.title}, {memory}{mark}"
    if record.override:
        yield f"HSA_OVERRIDE_GFX_VERSION: {record.override}"
    yield from _bullet_list("hazards", record.hazards)
    yield from _bullet_list("notes", record.notes)


@_lines.register(Card)
def _card(record: Card) -> Iterator[str]:
    size = "" if record.memory_gb is None else f"{record.memory_gb} GB "
    speed = "bandwidth unknown" if record.bandwidth_gbs is None else f"{record.bandwidth_gbs:g} GB/s"
    yield f"{record.id}: {record.title}"
    yield f"{size}{record.memory_kind}, {speed}{', shared with the processor' if record.unified else ''}"
    bf16 = "unknown" if record.bf16 is None else "yes" if record.bf16 else "no"
    power = "" if record.watts is None else f", {record.watts} W"
    yield f"bf16 {bf16}, FP8 {record.fp8}, matrix {record.matrix}{power}"
    for price in record.prices:
        span = f"{price.low:g}" if price.low == price.high else f"{price.low:g} to {price.high:g}"
        note = f", {price.note}" if price.note else ""
        yield f"{price.way}: {price.currency} {span}{note}, {price.known} [{price.source.where}]"
    if not record.prices:
        yield "price unknown"
    cloud = record.cloud
    if cloud is not None:
        yield f"cloud: {cloud.available}, {cloud.where}, {cloud.known} [{cloud.source.where}]"
    yield from _bullet_list("notes", record.notes)


@_lines.register(Stack)
def _stack(record: Stack) -> Iterator[str]:
    yield f"{record.id}: {record.title}"
    yield f"ROCm {record.rocm}, torch {record.torch}, Python {record.python}, {record.form}, released {record.released}"
    yield f"platforms: {', '.join(record.platforms)}"
    yield from (f"{name}: {text}" for name, text in (("image", record.image), ("index", record.index)) if text)
    yield f"targets: {', '.join(record.gfx)}"
    yield from _bullet_list("good for", record.good_for)
    yield from _bullet_list("traps", record.traps)


@_lines.register(Family)
def _family(record: Family) -> Iterator[str]:
    yield f"{record.id}: {record.title}"
    yield f"fails by: {record.fails_by}"
    yield f"try first: {record.try_first}"
    yield from _bullet_list("evidence, weakest first", record.evidence)
    yield from _bullet_list("examples", record.examples)


@_lines.register(Recipe)
def _recipe(record: Recipe) -> Iterator[str]:
    yield f"{record.id}: {record.title} ({record.safety}, {record.status}, since {record.since})"
    yield f"fixes {record.code} with rewrite {record.rewrite}"
    yield record.why
    yield f"for the user: {record.changes_for_user}"


@_lines.register(Advice)
def _advice(record: Advice) -> Iterator[str]:
    yield f"{record.id}: {record.verdict}"
    yield f"claim: {record.claim}"
    yield f"recommended by: {'; '.join(record.told_by)}"
    yield f"why: {record.why}"
    bounds = [f"{name} {text}" for name, text in (("ROCm", record.rocm), ("torch", record.torch)) if text]
    bounds += [", ".join(record.gfx)] if record.gfx else []
    if bounds:
        yield f"applies to: {'; '.join(bounds)}"
    if record.instead:
        yield f"instead: {record.instead}"


@_lines.register(Variable)
def _variable(record: Variable) -> Iterator[str]:
    yield f"{record.id}: {record.meaning}"
    yield f"read by: {', '.join(record.read_by)}"
    yield f"advice: {record.advice}"
    parts = (
        ("example", record.example),
        ("harmful when", record.harmful_when),
        ("ROCm", record.rocm),
        ("torch", record.torch),
    )
    yield from (f"{name}: {text}" for name, text in parts if text)
    if record.gfx:
        yield f"targets: {', '.join(record.gfx)}"


@_lines.register(Port)
def _port(record: Port) -> Iterator[str]:
    where = "a hosted service: nothing to port" if record.hosted else record.repository
    yield f"{record.id}: {record.title} ({where}), tier {record.tier}"
    yield f"families: {', '.join(record.families)}"
    yield from _bullet_list(
        "needs",
        (f"{need.package}{'' if need.required else ' (optional)'} {need.without}".rstrip() for need in record.needs),
    )
    yield from _bullet_list("memory", (f"{mode.mode}: {mode.gb:g} GB [{mode.source.where}]" for mode in record.memory))
    if record.workload is not None:
        yield ""
        yield f"bounded workload, {record.workload.minutes} min: {record.workload.does}"
        yield f"  artifact: {record.workload.artifact}; check: {record.workload.check}"
        yield from (f"  expects: {item.expect} [{item.source.where}, {item.known}]" for item in record.workload.expect)
    results = (f"{r.metric}: {r.value} on {r.hardware}, {r.status} [{r.source.where}]" for r in record.results)
    yield from _bullet_list("results", results)
    if record.licence is not None:
        yield f"licence: {record.licence.name}. {record.licence.wording}".rstrip()


@_lines.register(Tolerance)
def _tolerance(record: Tolerance) -> Iterator[str]:
    yield f"{record.id}: {record.dtype}, {record.operation}: rtol {record.rtol:g}, atol {record.atol:g}"
    yield f"because: {record.reason}"


@_lines.register(Backend)
def _backend(record: Backend) -> Iterator[str]:
    yield f"{record.id}: kernels that match {record.pattern} are {record.backend} ({record.operation}, {record.vendor})"
    yield from _bullet_list("observed", record.seen)


@_lines.register(Condition)
def _condition(record: Condition) -> Iterator[str]:
    yield f"{record.id} ({record.severity}): {record.title}"
    yield record.why
    yield from _bullet_list("what to do", record.remedy)
    yield ""
    yield f"check: {record.check}"
    yield from _bullet_list("for plans", (entry.says for entry in record.for_plan))
