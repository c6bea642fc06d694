"""Finds a record by any of its names: a code or rule, a package, an import, a GPU, a variable and so on.

Identifies the backend of a GPU kernel by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress

from rocm3d.knowledge.base import Knowledge, suggestion
from rocm3d.model.advice import Advice
from rocm3d.model.backend import Backend
from rocm3d.model.errors import UserError
from rocm3d.model.source import Fact

# In the order of precedence. Tolerances and backends come last, because their ids are internal.
_KINDS = (
    "packages",
    "targets",
    "stacks",
    "families",
    "recipes",
    "variables",
    "ports",
    "advice",
    "host",
    "tolerances",
    "backends",
)


def find_record(name: str, knowledge: Knowledge) -> Fact:
    """The record. If there is none, UserError with the closest names."""
    stripped = name.strip()
    for kind in _KINDS:
        table: Mapping[str, Fact] = getattr(knowledge, kind)
        for spelling in (stripped, stripped.lower(), stripped.upper()):
            if spelling in table:
                return table[spelling]
    for code in knowledge.codes.values():
        if stripped.upper() == code.code or stripped.lower() == code.rule:
            return code
    package = knowledge.package_by_pip(stripped) or _package_by_import(stripped, knowledge)
    if package is not None:
        return package
    # The id of an AMD card is also a product of a target, whose record has more facts. So only NVIDIA cards remain.
    with suppress(UserError):
        return knowledge.targets[knowledge.gpu(stripped).gfx]
    try:
        return knowledge.nvidia_card(stripped)
    except UserError:
        raise UserError(f"no record for {name!r}", hint=suggestion(stripped, known_names(knowledge))) from None


def advice_about(record: Fact, knowledge: Knowledge) -> list[Advice]:
    record_names = {
        name for key in ("id", "code", "rule", "gfx") if isinstance(name := getattr(record, key, None), str)
    }
    return [advice for advice in knowledge.advice.values() if advice is not record and record_names & set(advice.about)]


def known_names(knowledge: Knowledge) -> list[str]:
    """All names that `find` accepts."""
    products = (product.id for target in knowledge.targets.values() for product in target.products)
    pips = (name for package in knowledge.packages.values() for name in (*package.pip, *package.imports))
    codes = (spelling for code in knowledge.codes.values() for spelling in (code.code.lower(), code.rule))
    kinds = (*_KINDS, "cards")
    return [*(key for kind in kinds for key in getattr(knowledge, kind)), *products, *pips, *codes]


def _package_by_import(module: str, knowledge: Knowledge) -> Fact | None:
    return next((package for package in knowledge.packages.values() if module in package.imports), None)


def backend_of_kernel(name: str, backends: Iterable[Backend]) -> Backend | None:
    """The first backend whose pattern matches. The order of backends.toml is significant."""
    return next((backend for backend in backends if re.search(backend.pattern, name)), None)
