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
    from collections.abc import Iterable

    from rocm3d.model.card import Price
    from rocm3d.model.port import Workload
    from rocm3d.model.source import Fact
    from rocm3d.model.target import Product


def render(record: Fact, related: Iterable[Advice] = ()) -> str:
    """`related` is advice about the same subject."""
    advice_lines = _bullet_list("common advice", (f"{item.claim} ({item.verdict}; {item.id})" for item in related))
    return "\n".join([*_lines(record), *advice_lines, "", *_provenance(record)]) + "\n"


def _provenance(record: Fact) -> list[str]:
    sources = (f"  source: {source.where}" + (f" ({source.says})" if source.says else "") for source in record.sources)
    return [f"checked {record.checked}, {record.confidence}", *sources]


def _bullet_list(title: str, items: Iterable[str]) -> list[str]:
    lines = [f"  - {item}" for item in items]
    return ["", f"{title}:", *lines] if lines else []


def _fields(*pairs: tuple[str, object], indent: str = "") -> list[str]:
    """A line for each field that has a value."""
    return [f"{indent}{name}: {value}" for name, value in pairs if value]


def _limits(*pairs: tuple[str, str], lists: Iterable[Iterable[str]]) -> str:
    """Versions with their names, then lists of names, such as `ROCm >=6.4; gfx942, gfx950`."""
    return "; ".join([*(f"{name} {text}" for name, text in pairs if text), *filter(None, map(", ".join, lists))])


@singledispatch
def _lines(record: Fact) -> list[str]:
    return [repr(record)]


@_lines.register(Code)
def _code(record: Code) -> list[str]:
    return [
        f"{record.code} {record.rule} ({record.severity}, {record.status}, since {record.since})",
        "",
        record.message,
        record.help.strip(),
        "",
        f"what to do: {record.hint}",
        *_fields(("where no edit is made", record.action), ("CDNA", record.cdna), ("RDNA", record.rdna)),
        *_fields(("example", record.example), ("after the change", _block(record.example_after))),
        *_bullet_list("searches for", (f"{term}: {why}" for term, why in record.terms.items())),
    ]


def _block(text: str) -> str:
    """Several lines on their own, indented."""
    return "".join(f"\n  {line}" for line in text.splitlines()) if "\n" in text else text


@_lines.register(Package)
def _package(record: Package) -> list[str]:
    licence, routes = record.licence, sorted(record.routes, key=lambda route: route.rank)
    note = f" ({licence.note})" if licence and licence.note else ""
    return [
        f"{record.id}: {record.purpose}",
        f"family {record.family}; pip {', '.join(record.pip) or '-'}; import {', '.join(record.imports) or '-'}",
        *([f"licence: {licence.name}{note}"] if licence else []),
        *(_fields(("suggested wording", licence.wording)) if licence else []),
        *_bullet_list("traps", record.traps),
        *(line for route in routes for line in ("", *_route(route))),
    ]


def _route(route: Route) -> list[str]:
    versions = (("ROCm", route.rocm), ("torch", route.torch), ("Python", route.python))
    limits = _limits(*versions, lists=(route.gfx, route.products))
    not_at_the_top = "  only if the program does not import it at the top of a module"
    return [
        f"route {route.id} (rank {route.rank}, {route.status}): {route.decision} - {route.summary}",
        *([f"  for {limits}"] if limits else []),
        *_fields(("loses", route.loses), indent="  "),
        *(f"  needs {name} {specifier}" for name, specifier in route.needs.items()),
        *(f"  moves {name} to {version}" for name, version in route.moves.items()),
        *([not_at_the_top] if route.unless_imported else []),
        *(f"  {name}={value}" for name, value in route.env.items()),
        *(f"  $ {shlex.join(command)}" for command in route.commands),
        *_fields(("proof", route.proof), indent="  "),
        *(f"  trap: {trap}" for trap in route.traps),
        *(f"  {line}" for line in _provenance(route)),
    ]


@_lines.register(Target)
def _target(record: Target) -> list[str]:
    return [
        f"{record.gfx}: {record.title} ({record.architecture})",
        f"waves of {record.wave_size} lanes, LDS {record.lds_kib} KiB, FP8 {record.fp8}, matrix {record.matrix}",
        f"ROCm {record.rocm}",
        *(_product(product, is_default=product.id == record.default_product) for product in record.products),
        *_fields(("HSA_OVERRIDE_GFX_VERSION", record.override)),
        *_bullet_list("hazards", record.hazards),
        *_bullet_list("notes", record.notes),
    ]


def _product(product: Product, *, is_default: bool) -> str:
    memory = "shared memory" if product.vram_gb is None else f"{product.vram_gb} GB"
    return f"  {product.id}: {product.title}, {memory}{' (default)' if is_default else ''}"


@_lines.register(Card)
def _card(record: Card) -> list[str]:
    size = "" if record.memory_gb is None else f"{record.memory_gb} GB "
    speed = "bandwidth unknown" if record.bandwidth_gbs is None else f"{record.bandwidth_gbs:g} GB/s"
    bf16 = "unknown" if record.bf16 is None else "yes" if record.bf16 else "no"
    power = "" if record.watts is None else f", {record.watts} W"
    cloud = record.cloud
    return [
        f"{record.id}: {record.title}",
        f"{size}{record.memory_kind}, {speed}{', shared with the processor' if record.unified else ''}",
        f"bf16 {bf16}, FP8 {record.fp8}, matrix {record.matrix}{power}",
        *(map(_price, record.prices) if record.prices else ["price unknown"]),
        *([f"cloud: {cloud.available}, {cloud.where}, {cloud.known} [{cloud.source.where}]"] if cloud else []),
        *_bullet_list("notes", record.notes),
    ]


def _price(price: Price) -> str:
    span = f"{price.low:g}" if price.low == price.high else f"{price.low:g} to {price.high:g}"
    note = f", {price.note}" if price.note else ""
    return f"{price.way}: {price.currency} {span}{note}, {price.known} [{price.source.where}]"


@_lines.register(Stack)
def _stack(record: Stack) -> list[str]:
    form = f"{record.form}, released {record.released}"
    return [
        f"{record.id}: {record.title}",
        f"ROCm {record.rocm}, torch {record.torch}, Python {record.python}, {form}",
        f"platforms: {', '.join(record.platforms)}",
        *_fields(("image", record.image), ("index", record.index)),
        f"targets: {', '.join(record.gfx)}",
        *_bullet_list("good for", record.good_for),
        *_bullet_list("traps", record.traps),
    ]


@_lines.register(Family)
def _family(record: Family) -> list[str]:
    return [
        f"{record.id}: {record.title}",
        f"fails by: {record.fails_by}",
        f"try first: {record.try_first}",
        *_bullet_list("evidence, weakest first", record.evidence),
        *_bullet_list("examples", record.examples),
    ]


@_lines.register(Recipe)
def _recipe(record: Recipe) -> list[str]:
    return [
        f"{record.id}: {record.title} ({record.safety}, {record.status}, since {record.since})",
        f"fixes {record.code} with rewrite {record.rewrite}",
        record.why,
        f"for the user: {record.changes_for_user}",
        *_fields(("a reader checks", record.check)),
    ]


@_lines.register(Advice)
def _advice(record: Advice) -> list[str]:
    return [
        f"{record.id}: {record.verdict}",
        f"claim: {record.claim}",
        f"recommended by: {'; '.join(record.told_by)}",
        f"why: {record.why}",
        *_fields(
            ("applies to", _limits(("ROCm", record.rocm), ("torch", record.torch), lists=(record.gfx,))),
            ("instead", record.instead),
        ),
    ]


@_lines.register(Variable)
def _variable(record: Variable) -> list[str]:
    return [
        f"{record.id}: {record.meaning}",
        f"read by: {', '.join(record.read_by)}",
        f"advice: {record.advice}",
        *_fields(
            ("example", record.example),
            ("harmful when", record.harmful_when),
            ("ROCm", record.rocm),
            ("torch", record.torch),
            ("targets", ", ".join(record.gfx)),
        ),
    ]


@_lines.register(Port)
def _port(record: Port) -> list[str]:
    where = "a hosted service: nothing to port" if record.hosted else record.repository
    needs = (f"{need.package}{'' if need.required else ' (optional)'} {need.without}".rstrip() for need in record.needs)
    memory = (f"{mode.mode}: {mode.gb:g} GB [{mode.source.where}]" for mode in record.memory)
    results = (f"{r.metric}: {r.value} on {r.hardware}, {r.status} [{r.source.where}]" for r in record.results)
    licence = f"{record.licence.name}. {record.licence.wording}".rstrip() if record.licence else ""
    return [
        f"{record.id}: {record.title} ({where}), tier {record.tier}",
        f"families: {', '.join(record.families)}",
        *_bullet_list("needs", needs),
        *_bullet_list("memory", memory),
        *(_workload(record.workload) if record.workload else []),
        *_bullet_list("results", results),
        *_fields(("licence", licence)),
    ]


def _workload(workload: Workload) -> list[str]:
    return [
        "",
        f"bounded workload, {workload.minutes} min: {workload.does}",
        f"  artifact: {workload.artifact}; check: {workload.check}",
        *(f"  expects: {item.expect} [{item.source.where}, {item.known}]" for item in workload.expect),
    ]


@_lines.register(Tolerance)
def _tolerance(record: Tolerance) -> list[str]:
    return [
        f"{record.id}: {record.dtype}, {record.operation}: rtol {record.rtol:g}, atol {record.atol:g}",
        f"because: {record.reason}",
    ]


@_lines.register(Backend)
def _backend(record: Backend) -> list[str]:
    kind = f"{record.backend} ({record.operation}, {record.vendor})"
    return [f"{record.id}: kernels that match {record.pattern} are {kind}", *_bullet_list("observed", record.seen)]


@_lines.register(Condition)
def _condition(record: Condition) -> list[str]:
    return [
        f"{record.id} ({record.severity}): {record.title}",
        record.why,
        *_bullet_list("what to do", record.remedy),
        "",
        f"check: {record.check}",
        *_bullet_list("for plans", (entry.says for entry in record.for_plan)),
    ]
