"""The kinds of records and their models. Models are imported on first use, because a command needs only a few kinds."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.base import Record


class LazyModels(Mapping[str, "type[Record]"]):
    """Models by kind, from names `module.Class` in rocm3d.model."""

    def __init__(self, **names: str) -> None:
        self._names = names

    def __getitem__(self, kind: str) -> type[Record]:
        module, _, name = self._names[kind].partition(".")
        model: type[Record] = getattr(import_module(f"rocm3d.model.{module}"), name)
        return model

    def __contains__(self, kind: object) -> bool:
        return kind in self._names  # without importing the model

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


# A folder with one file per record.
FOLDERS = LazyModels(
    targets="target.Target",
    stacks="stack.Stack",
    packages="package.Package",
    families="family.Family",
    advice="advice.Advice",
    variables="variable.Variable",
    ports="port.Port",
    cards="card.Card",
    toolchains="toolchain.WheelToolchain",
    host="condition.Condition",
)
# One file with an array of records: file stem -> model of the file, whose only field has the records.
TABLES = LazyModels(
    tolerances="tolerance.ToleranceTable",
    backends="backend.BackendTable",
    suites="suite.SuiteTable",
    distributions="lock.DistributionTable",
    wheels="wheel.WheelTable",
    indexes="package_index.PublicIndexTable",
)
# One file with one record.
SINGLES = LazyModels(release="release.Release", method="method.Method", secrets="secrets.SecretRules")
# One folder per rule, with its cases. A rule is a code, and has the recipe of its fix.
RULES = LazyModels(rules="rule.Rule")
RULE_KINDS = ("codes", "recipes")

KINDS = (*TABLES, *FOLDERS, *RULE_KINDS)
SCAN_KINDS = ("codes", "indexes", "packages", "ports", "recipes", "targets")  # the kinds that a scan consults
