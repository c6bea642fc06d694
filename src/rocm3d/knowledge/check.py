"""Consistency checks across records of the knowledge base."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.port import Port
    from rocm3d.model.source import Fact


# Placeholders that scripts/new.py writes for the author to replace. The last two are from rocm3d 0.1.
_SCAFFOLD = ("TODO:", "owner/repository commit or issue", "One paragraph.")


@dataclass(frozen=True)
class Problem:
    """A mistake in a record: file, key and message."""

    file: str
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.key}: {self.message}"


Problems = Iterator[Problem]


def check(
    knowledge: Knowledge, rules: Set[str], rewrites: Set[str], predicates: Set[str] | None = None
) -> list[Problem]:
    """All problems. `rules`, `rewrites` and `predicates` are the names that are implemented in code."""
    return [
        *_codes(knowledge, rules),
        *_packages(knowledge),
        *_targets(knowledge),
        *_stacks(knowledge),
        *_recipes(knowledge, rewrites),
        *_ports(knowledge),
        *_cards(knowledge),
        *_suites(knowledge),
        *_method(knowledge),
        *_host(knowledge, predicates),
        *_dates(knowledge),
        *_scaffold_texts(knowledge),
    ]


def _codes(knowledge: Knowledge, rules: Set[str]) -> Problems:
    seen: dict[str, str] = {}
    for code in knowledge.codes.values():
        file = knowledge.places["codes", code.code]
        if code.status == "active" and not code.help:
            yield Problem(file, f"{code.code}.help", "an active code needs help")
        if code.status == "active" and code.rule not in rules:
            yield Problem(file, f"{code.code}.rule", f"unknown detector {code.rule!r}; use status = 'planned'")
        if code.rule in seen:
            yield Problem(file, f"{code.code}.rule", f"{code.rule!r} is also the rule of {seen[code.rule]}")
        seen[code.rule] = code.code
        if code.family is not None and code.family not in knowledge.families:
            yield Problem(file, f"{code.code}.family", f"unknown family {code.family!r}")


def _packages(knowledge: Knowledge) -> Problems:
    owners: dict[str, str] = {}
    products = {product.id for target in knowledge.targets.values() for product in target.products}
    for package in knowledge.packages.values():
        file = knowledge.places["packages", package.id]
        if package.family not in knowledge.families:
            yield Problem(file, "family", f"unknown family {package.family!r}")
        for name in map(canonicalize_name, package.pip):
            if name in owners:
                yield Problem(file, "pip", f"{name!r} also belongs to {owners[name]}")
            owners[name] = package.id
        for route in package.routes:
            for gfx in route.gfx:
                if gfx not in knowledge.targets:
                    yield Problem(file, f"routes.{route.id}.gfx", f"unknown target {gfx!r}")
            for product in route.products:
                if product not in products:
                    yield Problem(file, f"routes.{route.id}.products", f"unknown product {product!r}")


def _targets(knowledge: Knowledge) -> Problems:
    owners: dict[str, str] = {}
    for target in knowledge.targets.values():
        for product in target.products:
            if product.id in owners:
                file = knowledge.places["targets", target.gfx]
                yield Problem(file, "products", f"{product.id!r} also belongs to {owners[product.id]}")
            owners[product.id] = target.gfx


def _stacks(knowledge: Knowledge) -> Problems:
    for stack in knowledge.stacks.values():
        for gfx in stack.gfx:
            if gfx not in knowledge.targets:
                yield Problem(knowledge.places["stacks", stack.id], "gfx", f"unknown target {gfx!r}")


def _recipes(knowledge: Knowledge, rewrites: Set[str]) -> Problems:
    for recipe in knowledge.recipes.values():
        file = knowledge.places["recipes", recipe.id]
        for key, code in (("code", recipe.code), *(("also", code) for code in recipe.also)):
            if code not in knowledge.codes:
                yield Problem(file, key, f"unknown code {code!r}")
        if recipe.also and recipe.code in knowledge.codes and not knowledge.codes[recipe.code].package:
            yield Problem(file, "also", f"{recipe.code} has no package")
        if recipe.family not in knowledge.families:
            yield Problem(file, "family", f"unknown family {recipe.family!r}")
        if f"/{recipe.family}/" not in file:
            yield Problem(file, "family", f"{recipe.family!r} does not match the folder of the recipe")
        if recipe.id not in knowledge.examples:
            yield Problem(file, "examples", "needs before.*, after.* and untouched.* in the same folder")
        if recipe.status == "active" and recipe.rewrite not in rewrites:
            yield Problem(file, "rewrite", f"unknown rewrite {recipe.rewrite!r}; use status = 'planned'")


def _ports(knowledge: Knowledge) -> Problems:
    for port in knowledge.ports.values():
        file = knowledge.places["ports", port.id]
        for key, names, known in (
            ("families", port.families, knowledge.families),
            ("needs", tuple(need.package for need in port.needs), knowledge.packages),
            ("recipes", port.recipes, knowledge.recipes),
            ("builds_on", (port.builds_on,) if port.builds_on else (), knowledge.ports),
        ):
            for name in names:
                if name not in known:
                    yield Problem(file, key, f"unknown {name!r}")
        yield from _port_routes(port, file, knowledge)
        yield from _port_marks(port, file, knowledge)


def _port_routes(port: Port, file: str, knowledge: Knowledge) -> Problems:
    for name, route in sorted(port.routes.items()):
        package = knowledge.packages.get(name)
        if package is None:
            yield Problem(file, f"routes.{name}", f"unknown package {name!r}")
        elif route not in {known.id for known in package.routes}:
            yield Problem(file, f"routes.{name}", f"{name} has no route {route!r}")


def _port_marks(port: Port, file: str, knowledge: Knowledge) -> Problems:
    """Marks are relative paths that together identify a checkout, so no other port may have all of them."""
    for mark in port.marks:
        path = PurePosixPath(mark)
        if path.is_absolute() or ".." in path.parts or str(path) != mark or "\\" in mark:
            yield Problem(file, "marks", f"{mark!r} is not a relative path inside the repository")
    for other in knowledge.ports.values():
        if other.id != port.id and port.marks and set(port.marks) <= set(other.marks):
            yield Problem(file, "marks", f"{other.id} has all of these marks too")


def _cards(knowledge: Knowledge) -> Problems:
    products = {product.id for target in knowledge.targets.values() for product in target.products}
    for card in knowledge.cards.values():
        file = knowledge.places["cards", card.id]
        if card.is_amd != (card.id in products):
            whose = "is an AMD card, but no target has this product" if card.is_amd else "is a product of an AMD target"
            yield Problem(file, "id", f"{card.id!r} {whose}")
        dated = [(f"prices.{price.way}", price.known) for price in card.prices]
        dated += [] if card.cloud is None else [("cloud", card.cloud.known)]
        for key, known in dated:
            if known > card.checked:
                yield Problem(file, f"{key}.known", f"{known} is later than checked = {card.checked}")


def _suites(knowledge: Knowledge) -> Problems:
    for suite in knowledge.suites.values():
        for name in suite.packages:
            package = knowledge.packages.get(name)
            if package is None or not package.probe:
                what = f"unknown package {name!r}" if package is None else f"{name!r} has no probe"
                yield Problem(knowledge.places["suites", suite.id], f"{suite.id}.packages", what)


def _method(knowledge: Knowledge) -> Problems:
    if knowledge.method is None:
        return
    for rule in knowledge.method.rules:
        for name in rule.advice:
            if name not in knowledge.advice:
                yield Problem("method.toml", f"rules.{rule.title}", f"unknown advice {name!r}")
    for phase in knowledge.method.phases:
        for prefix in phase.codes:
            if not any(code.startswith(prefix) for code in knowledge.codes):
                yield Problem("method.toml", f"phases.{phase.number}", f"no code starts with {prefix!r}")


def _host(knowledge: Knowledge, predicates: Set[str] | None) -> Problems:
    for condition in knowledge.host.values():
        file = knowledge.places["host", condition.id]
        if predicates is not None and condition.test not in predicates:
            yield Problem(file, "test", f"unknown predicate {condition.test!r}")
        entries = condition.for_plan
        for key, names, known in (
            ("gfx", (*condition.gfx, *(gfx for entry in entries for gfx in entry.gfx)), knowledge.targets),
            ("for_plan.packages", [name for entry in entries for name in entry.packages], knowledge.packages),
            ("for_plan.families", [name for entry in entries for name in entry.families], knowledge.families),
            ("advice", condition.advice, knowledge.advice),
        ):
            for name in names:
                if name not in known:
                    yield Problem(file, key, f"unknown {name!r}")


def _dates(knowledge: Knowledge) -> Problems:
    for (kind, name), file in knowledge.places.items():
        fact: Fact = getattr(knowledge, kind)[name]
        routes = knowledge.packages[name].routes if kind == "packages" else ()
        for key, dated in ((name, fact), *((f"{name}.routes.{route.id}", route) for route in routes)):
            if dated.checked > knowledge.date:
                yield Problem(file, f"{key}.checked", f"{dated.checked} is later than the release of {knowledge.date}")


def _scaffold_texts(knowledge: Knowledge) -> Problems:
    for (kind, name), file in knowledge.places.items():
        for key, text in _texts(getattr(knowledge, kind)[name].model_dump(mode="json"), name):
            if text.startswith(_SCAFFOLD):
                yield Problem(file, key, f"still has the placeholder text {text!r}. Replace it.")


def _texts(value: object, key: str) -> Iterator[tuple[str, str]]:
    """All strings in a record, with their dotted keys."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, f"{key}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key)
