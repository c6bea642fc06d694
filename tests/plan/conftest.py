"""A small knowledge base for tests, independent of the shipped data."""

from __future__ import annotations

from datetime import date

import pytest

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.card import Card
from rocm3d.model.code import Code
from rocm3d.model.finding import Finding, Location
from rocm3d.model.inventory import Dependency, Extension, FileCounts, Inventory, Scan
from rocm3d.model.package import Package, Route
from rocm3d.model.recipe import Conditions, Recipe
from rocm3d.model.source import Source
from rocm3d.model.stack import Stack
from rocm3d.model.target import Product, Target

TODAY = date(2026, 11, 15)
FACT = {"checked": TODAY, "confidence": "reported", "sources": (Source(where="a test"),)}


class Make:
    """Small records with sensible rest."""

    today = TODAY

    @staticmethod
    def route(name: str, decision: str = "keep", rank: int = 1, **fields) -> Route:
        proof = "ran" if decision in ("replace", "build", "substitute") else ""
        arguments = {**FACT, "summary": f"{decision} it", "proof": proof, **fields}
        return Route(id=name, decision=decision, rank=rank, **arguments)

    @staticmethod
    def package(name: str, *routes: Route, **fields) -> Package:
        return Package(id=name, pip=(name,), family="cleanup", purpose="a test", routes=routes, **{**FACT, **fields})

    @staticmethod
    def stack(name: str, released: date = TODAY, **fields) -> Stack:
        arguments = {
            "rocm": "7.1",
            "torch": "2.9.0",
            "python": "3.12",
            "gfx": ("gfx942", "gfx1100"),
            "platforms": ("linux",),
        }
        return Stack(id=name, title=name, form="container", released=released, **{**arguments, **FACT, **fields})

    @staticmethod
    def target(gfx: str, product: str, wave_size: int = 64, **fields) -> Target:
        products = (Product(id=product, title=product.upper(), vram_gb=192), Product(id=f"{product}-b", title="B"))
        arguments = {
            "architecture": "cdna",
            "fp8": "fnuz",
            "matrix": "mfma",
            "lds_kib": 64,
            "rocm": ">=6",
            **FACT,
            **fields,
        }
        return Target(gfx=gfx, title=gfx, products=products, default_product=product, wave_size=wave_size, **arguments)

    @staticmethod
    def code(code: str, rule: str, answered_by: str = "recipe", severity: str = "error") -> Code:
        texts = {"message": "m", "hint": "h", "help": "x", "since": "0.1.0"}
        return Code(code=code, rule=rule, severity=severity, answered_by=answered_by, **texts, **FACT)

    @staticmethod
    def recipe(name: str, code: str, safety: str = "safe", **when) -> Recipe:
        texts = {"title": name, "family": "cleanup", "why": "w", "changes_for_user": "c", "since": "0.1.0"}
        conditions = Conditions(**when)
        return Recipe(
            id=name,
            code=code,
            safety=safety,
            rewrite="guard_include",
            applies_when=conditions,
            parameters={"headers": ["x.h"]},
            **texts,
            **FACT,
        )

    @staticmethod
    def card(name: str, gb: int | None = None, **fields) -> Card:
        """An NVIDIA card where its memory is given, else an AMD one."""
        theirs = {"vendor": "nvidia", "memory_gb": gb, "fp8": "ocp", "matrix": "tensor"}
        own = {"memory_kind": "HBM3", **({"vendor": "amd"} if gb is None else theirs)}
        return Card(id=name, title=name.upper(), **{**own, **FACT, **fields})

    @staticmethod
    def knowledge(packages=(), stacks=(), recipes=(), codes=(), targets=None) -> Knowledge:
        own = targets or (Make.target("gfx942", "mi300x"), Make.target("gfx1100", "rx7900xtx", 32))
        return Knowledge(
            date=TODAY,
            codes={item.code: item for item in codes},
            targets={item.gfx: item for item in own},
            stacks={item.id: item for item in stacks},
            packages={item.id: item for item in packages},
            families={},
            recipes={item.id: item for item in recipes},
            examples={},
            places={},
        )

    @staticmethod
    def finding(
        code: str, rule: str, path: str = "a.cu", line: int = 1, package: str | None = None, **fields
    ) -> Finding:
        arguments = {"severity": "error", "message": "m", "hint": "h", "column": 1, **fields}
        return Finding(code=code, rule=rule, path=path, line=line, package=package, **arguments)

    @staticmethod
    def dependency(name: str, package: str | None = "", line: int = 1) -> Dependency:
        path = Location(path="requirements.txt", line=line, column=1)
        return Dependency(name=name, requirement=name, location=path, package=name if package == "" else package)

    @staticmethod
    def extension(*sources: str, how: str = "build_extension", path: str = "setup.py") -> Extension:
        return Extension(name="e", how=how, sources=sources, location=Location(path=path, line=1, column=1))

    @staticmethod
    def scan(findings=(), dependencies=(), extensions=()) -> Scan:
        inventory = Inventory(
            repository="r",
            counts=FileCounts(files=1, bytes=1, python=0, cuda=1, manifests=1),
            families={},
            skipped=(),
            dependencies=tuple(dependencies),
            extensions=tuple(extensions),
            readiness="needs-edits",
            reasons=(),
        )
        return Scan(inventory=inventory, findings=tuple(findings))


@pytest.fixture
def make():
    return Make
