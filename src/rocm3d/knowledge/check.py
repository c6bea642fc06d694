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
_PLACEHOLDERS = ("TODO:", "owner/repository commit or issue", "One paragraph.")


@dataclass(frozen=True)
class RecordProblem:
    """A mistake in a record: file, key and message."""

    file: str
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.key}: {self.message}"


Problems = Iterator[RecordProblem]


@dataclass(frozen=True)
class ImplementedNames:
    """Names that have a module. `predicates` is None if they are not checked."""

    rules: Set[str]
    rewrites: Set[str]
    predicates: Set[str] | None = None
    matchers: Set[str] = frozenset()


def check_records(knowledge: Knowledge, implemented: ImplementedNames) -> list[RecordProblem]:
    return [
        *_check_codes(knowledge, implemented),
        *_check_packages(knowledge),
        *_check_targets(knowledge),
        *_check_stacks(knowledge),
        *_check_pins(knowledge),
        *_check_recipes(knowledge, implemented.rewrites),
        *_check_ports(knowledge),
        *_check_cards(knowledge),
        *_check_suites(knowledge),
        *_check_method(knowledge),
        *_check_conditions(knowledge, implemented.predicates),
        *_check_dates(knowledge),
        *_check_placeholders(knowledge),
    ]


def _check_codes(knowledge: Knowledge, implemented: ImplementedNames) -> Problems:
    code_by_rule: dict[str, str] = {}
    for code in knowledge.codes.values():
        file = knowledge.places["codes", code.code]
        if code.status == "active" and not code.help:
            yield RecordProblem(file, "help", "an active code needs help")
        for kind in (part.kind for part in code.matcher.parts) if code.matcher else ():
            if kind not in implemented.matchers:
                yield RecordProblem(file, "matcher.kind", f"unknown matcher {kind!r}")
        if code.status == "active" and code.matcher is None and code.rule not in implemented.rules:
            yield RecordProblem(file, "rule", f"unknown detector {code.rule!r}; use status = 'planned'")
        if code.rule in code_by_rule:
            yield RecordProblem(file, "rule", f"{code.rule!r} is also the rule of {code_by_rule[code.rule]}")
        code_by_rule[code.rule] = code.code
        if code.family is not None and code.family not in knowledge.families:
            yield RecordProblem(file, "family", f"unknown family {code.family!r}")


def _check_packages(knowledge: Knowledge) -> Problems:
    owners: dict[str, str] = {}
    products = {product.id for target in knowledge.targets.values() for product in target.products}
    for package in knowledge.packages.values():
        file = knowledge.places["packages", package.id]
        if package.family not in knowledge.families:
            yield RecordProblem(file, "family", f"unknown family {package.family!r}")
        for name in map(canonicalize_name, package.pip):
            if name in owners:
                yield RecordProblem(file, "pip", f"{name!r} also belongs to {owners[name]}")
            owners[name] = package.id
        for route in package.routes:
            for gfx in route.gfx:
                if gfx not in knowledge.targets:
                    yield RecordProblem(file, f"routes.{route.id}.gfx", f"unknown target {gfx!r}")
            for product in route.products:
                if product not in products:
                    yield RecordProblem(file, f"routes.{route.id}.products", f"unknown product {product!r}")


def _check_targets(knowledge: Knowledge) -> Problems:
    owners: dict[str, str] = {}
    for target in knowledge.targets.values():
        for product in target.products:
            if product.id in owners:
                file = knowledge.places["targets", target.gfx]
                yield RecordProblem(file, "products", f"{product.id!r} also belongs to {owners[product.id]}")
            owners[product.id] = target.gfx


def _check_stacks(knowledge: Knowledge) -> Problems:
    for stack in knowledge.stacks.values():
        for gfx in stack.gfx:
            if gfx not in knowledge.targets:
                yield RecordProblem(knowledge.places["stacks", stack.id], "gfx", f"unknown target {gfx!r}")


def _check_pins(knowledge: Knowledge) -> Problems:
    """What a route clones has a commit, and an image a digest, or the reason why it is not known."""
    for package in knowledge.packages.values():
        for route in package.routes:
            if bool(route.pin) + bool(route.unpinned) != has_repository(route.commands):
                key = f"routes.{route.id}"
                file = knowledge.places["packages", package.id]
                if has_repository(route.commands):
                    yield RecordProblem(file, key, "clones a repository: needs either `pin` or `unpinned`")
                else:
                    yield RecordProblem(file, key, "clones no repository: needs neither `pin` nor `unpinned`")
    for stack in knowledge.stacks.values():
        if bool(stack.digest) + bool(stack.unpinned) != bool(stack.image):
            yield RecordProblem(
                knowledge.places["stacks", stack.id],
                "image",
                "needs either `digest` or `unpinned`, and only an image does",
            )


def has_repository(commands: tuple[tuple[str, ...], ...]) -> bool:
    """Whether a command clones a git repository."""
    words = (word for command in commands for word in command)
    return any(command[:2] == ("git", "clone") for command in commands) or any("git+" in word for word in words)


def _check_recipes(knowledge: Knowledge, rewrites: Set[str]) -> Problems:
    for recipe in knowledge.recipes.values():
        file = knowledge.places["recipes", recipe.id]
        for code in recipe.also:
            if code not in knowledge.codes:
                yield RecordProblem(file, "fix.also", f"unknown code {code!r}")
        if recipe.also and not knowledge.codes[recipe.code].package:
            yield RecordProblem(file, "fix.also", f"{recipe.code} has no package")
        if recipe.family not in knowledge.families:
            yield RecordProblem(file, "fix.family", f"unknown family {recipe.family!r}")
        if recipe.id not in knowledge.examples:
            yield RecordProblem(file, "cases", "needs before.*, after.* and untouched.*")
        if recipe.safety == "review" and not recipe.check:
            yield RecordProblem(file, "fix.check", "an edit graded review says what its reader checks")
        if recipe.status == "active" and recipe.rewrite not in rewrites:
            yield RecordProblem(file, "fix.rewrite", f"unknown rewrite {recipe.rewrite!r}; use status = 'planned'")


def _check_ports(knowledge: Knowledge) -> Problems:
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
                    yield RecordProblem(file, key, f"unknown {name!r}")
        yield from _check_port_routes(port, file, knowledge)
        yield from _check_port_marks(port, file, knowledge)


def _check_port_routes(port: Port, file: str, knowledge: Knowledge) -> Problems:
    for name, route in sorted(port.routes.items()):
        package = knowledge.packages.get(name)
        if package is None:
            yield RecordProblem(file, f"routes.{name}", f"unknown package {name!r}")
        elif route not in {known.id for known in package.routes}:
            yield RecordProblem(file, f"routes.{name}", f"{name} has no route {route!r}")


def _check_port_marks(port: Port, file: str, knowledge: Knowledge) -> Problems:
    """Marks are relative paths that together identify a checkout, so no other port may have all of them."""
    for mark in (*port.marks, *port.mark_texts):
        path = PurePosixPath(mark)
        if path.is_absolute() or ".." in path.parts or str(path) != mark or "\\" in mark:
            yield RecordProblem(file, "marks", f"{mark!r} is not a relative path inside the repository")
    for other in knowledge.ports.values():
        same = port.marks and set(port.marks) <= set(other.marks) and not port.mark_texts
        if other.id != port.id and same:
            yield RecordProblem(file, "marks", f"{other.id} has all of these marks too")


def _check_cards(knowledge: Knowledge) -> Problems:
    products = {product.id for target in knowledge.targets.values() for product in target.products}
    for card in knowledge.cards.values():
        file = knowledge.places["cards", card.id]
        if card.is_amd != (card.id in products):
            mismatch = (
                "is an AMD card, but no target has this product" if card.is_amd else "is a product of an AMD target"
            )
            yield RecordProblem(file, "id", f"{card.id!r} {mismatch}")
        dated = [(f"prices.{price.way}", price.known) for price in card.prices]
        dated += [] if card.cloud is None else [("cloud", card.cloud.known)]
        for key, known in dated:
            if known > card.checked:
                yield RecordProblem(file, f"{key}.known", f"{known} is later than checked = {card.checked}")


def _check_suites(knowledge: Knowledge) -> Problems:
    for suite in knowledge.suites.values():
        for name in suite.packages:
            package = knowledge.packages.get(name)
            if package is None or not package.probe:
                message = f"unknown package {name!r}" if package is None else f"{name!r} has no probe"
                yield RecordProblem(knowledge.places["suites", suite.id], f"{suite.id}.packages", message)


def _check_method(knowledge: Knowledge) -> Problems:
    if knowledge.method is None:
        return
    for rule in knowledge.method.rules:
        for name in rule.advice:
            if name not in knowledge.advice:
                yield RecordProblem("method.toml", f"rules.{rule.title}", f"unknown advice {name!r}")
    for phase in knowledge.method.phases:
        for prefix in phase.codes:
            if not any(code.startswith(prefix) for code in knowledge.codes):
                yield RecordProblem("method.toml", f"phases.{phase.number}", f"no code starts with {prefix!r}")


def _check_conditions(knowledge: Knowledge, predicates: Set[str] | None) -> Problems:
    for condition in knowledge.host.values():
        file = knowledge.places["host", condition.id]
        if predicates is not None and condition.test not in predicates:
            yield RecordProblem(file, "test", f"unknown predicate {condition.test!r}")
        entries = condition.for_plan
        for key, names, known in (
            ("gfx", (*condition.gfx, *(gfx for entry in entries for gfx in entry.gfx)), knowledge.targets),
            ("for_plan.packages", [name for entry in entries for name in entry.packages], knowledge.packages),
            ("for_plan.families", [name for entry in entries for name in entry.families], knowledge.families),
            ("advice", condition.advice, knowledge.advice),
        ):
            for name in names:
                if name not in known:
                    yield RecordProblem(file, key, f"unknown {name!r}")


def _check_dates(knowledge: Knowledge) -> Problems:
    for (kind, name), file in knowledge.places.items():
        fact: Fact = getattr(knowledge, kind)[name]
        routes = knowledge.packages[name].routes if kind == "packages" else ()
        for key, dated in ((name, fact), *((f"{name}.routes.{route.id}", route) for route in routes)):
            if dated.checked > knowledge.date:
                yield RecordProblem(
                    file, f"{key}.checked", f"{dated.checked} is later than the release of {knowledge.date}"
                )


def _check_placeholders(knowledge: Knowledge) -> Problems:
    for (kind, name), file in knowledge.places.items():
        for key, text in _texts(getattr(knowledge, kind)[name].model_dump(mode="json"), name):
            if text.startswith(_PLACEHOLDERS):
                yield RecordProblem(file, key, f"still has the placeholder text {text!r}. Replace it.")


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
