"""The loaded knowledge base: frozen, indexed, and asked by name."""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.model.failure import UserError
from rocm3d.model.target import Gpu

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

    from rocm3d.model.advice import Advice
    from rocm3d.model.backend import Backend
    from rocm3d.model.code import Code
    from rocm3d.model.family import Family
    from rocm3d.model.method import Method
    from rocm3d.model.package import Package
    from rocm3d.model.port import Port
    from rocm3d.model.recipe import Recipe
    from rocm3d.model.stack import Stack
    from rocm3d.model.target import Product, Target
    from rocm3d.model.tolerance import Tolerance
    from rocm3d.model.variable import Variable


@dataclass(frozen=True)
class Example:
    """The files beside a recipe that are its tests."""

    name: str
    before: bytes
    after: bytes
    untouched: bytes


@dataclass(frozen=True)
class Knowledge:
    """Every record, by id. `places` says which file a record came from, keyed by kind and id."""

    date: date
    codes: Mapping[str, Code]
    targets: Mapping[str, Target]
    stacks: Mapping[str, Stack]
    packages: Mapping[str, Package]
    families: Mapping[str, Family]
    recipes: Mapping[str, Recipe]
    examples: Mapping[str, Example]
    places: Mapping[tuple[str, str], str]
    advice: Mapping[str, Advice] = field(default_factory=dict)
    variables: Mapping[str, Variable] = field(default_factory=dict)
    ports: Mapping[str, Port] = field(default_factory=dict)
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict)
    backends: Mapping[str, Backend] = field(default_factory=dict)
    method: Method | None = None

    @cached_property
    def fingerprint(self) -> str:
        """A digest of what a scan depends on: codes, packages and recipes."""
        records = (*self.codes.values(), *self.packages.values(), *self.recipes.values())
        return hashlib.sha256("".join(record.model_dump_json() for record in records).encode()).hexdigest()

    def package_by_pip(self, name: str) -> Package | None:
        """The package a distribution name stands for, patterns such as nvidia-*-cu12 included."""
        wanted = canonicalize_name(name)
        exact = self._pip_names.get(wanted)
        if exact is not None:
            return exact
        return next((package for pattern, package in self._pip_patterns if fnmatch.fnmatchcase(wanted, pattern)), None)

    @cached_property
    def _pip_names(self) -> dict[str, Package]:
        return {
            canonicalize_name(name): package
            for package in self.packages.values()
            for name in package.pip
            if "*" not in name
        }

    @cached_property
    def _pip_patterns(self) -> list[tuple[str, Package]]:
        return [
            (canonicalize_name(name), package)
            for package in self.packages.values()
            for name in package.pip
            if "*" in name
        ]

    def gpu(self, name: str) -> Gpu:
        """The product a person means; a gfx id alone means its default product."""
        if name.lower() in self.targets:
            target = self.targets[name.lower()]
            return _gpu(target, target.product(target.default_product))
        wanted = _plain(name)
        for target in self.targets.values():
            for product in target.products:
                if wanted in {_plain(spelling) for spelling in (product.id, product.title, *product.names)}:
                    return _gpu(target, product)
        known = [*self.targets, *(product.id for target in self.targets.values() for product in target.products)]
        raise UserError(f"no GPU is called {name!r}", hint=suggestion(name, known))

    def recipe_for(self, code: str) -> Recipe | None:
        """The active recipe that answers a code."""
        return next((r for r in self.recipes.values() if r.code == code and r.status == "active"), None)


def suggestion(name: str, known: Iterable[str]) -> str:
    """The nearest names to a misspelt one, or some of those there are."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.5)
    return f"did you mean {', '.join(near)}?" if near else f"known are {', '.join(names[:12])}"


def _gpu(target: Target, product: Product) -> Gpu:
    return Gpu(
        gfx=target.gfx,
        product=product.id,
        title=product.title,
        wave_size=target.wave_size,
        vram_gb=product.vram_gb,
    )


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
