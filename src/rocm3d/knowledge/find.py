"""Finds the record that a word means: a code or rule, a package by any of its names, a GPU, a stack, family or recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.knowledge.base import Knowledge, suggestion
from rocm3d.model.failure import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocm3d.model.source import Fact


def find(word: str, knowledge: Knowledge) -> Fact:
    """The record, or one line with the nearest names."""
    plain = word.strip()
    for table in (knowledge.packages, knowledge.targets, knowledge.stacks, knowledge.families, knowledge.recipes):
        named: Mapping[str, Fact] = table
        if plain.lower() in named:
            return named[plain.lower()]
    for code in knowledge.codes.values():
        if plain.upper() == code.code or plain.lower() == code.rule:
            return code
    package = knowledge.package_by_pip(plain) or _by_import(plain, knowledge)
    if package is not None:
        return package
    try:
        return knowledge.targets[knowledge.gpu(plain).gfx]
    except UserError:
        raise UserError(f"nothing is known of {word!r}", hint=suggestion(plain, names(knowledge))) from None


def names(knowledge: Knowledge) -> list[str]:
    """Every word that `find` takes."""
    products = (product.id for target in knowledge.targets.values() for product in target.products)
    pips = (name for package in knowledge.packages.values() for name in (*package.pip, *package.imports))
    codes = (word for code in knowledge.codes.values() for word in (code.code.lower(), code.rule))
    tables = (knowledge.packages, knowledge.targets, knowledge.stacks, knowledge.families, knowledge.recipes)
    return [*(key for table in tables for key in table), *products, *pips, *codes]


def _by_import(word: str, knowledge: Knowledge) -> Fact | None:
    return next((package for package in knowledge.packages.values() if word in package.imports), None)
