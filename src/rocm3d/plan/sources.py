"""The source plan: which recipe fixes which findings in which file, and what needs a manual edit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from rocm3d.model.plan import PlannedEdit, UnresolvedFinding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.finding import Finding
    from rocm3d.model.inventory import Extension
    from rocm3d.model.package import Decision
    from rocm3d.model.recipe import Recipe
    from rocm3d.model.stack import Stack
    from rocm3d.model.target import Gpu


@dataclass(frozen=True)
class PlanContext:
    """What decides how a finding is fixed. `decided` maps package ids to the plan's decision."""

    knowledge: Knowledge
    decided: Mapping[str, Decision]
    stack: Stack | None
    gpu: Gpu


@dataclass(frozen=True)
class SourcePlan:
    """Every finding, except notes without an edit, is in at least one of these."""

    edits: tuple[PlannedEdit, ...]
    answered: tuple[Finding, ...]
    left: tuple[UnresolvedFinding, ...]

    @property
    def resolved(self) -> tuple[Finding, ...]:
        """Findings that need no manual work. One finding can have an edit and another fix."""
        edited = (finding for edit in self.edits for finding in edit.findings)
        return tuple(dict.fromkeys((*edited, *self.answered)))

    @property
    def codes_needing_edits(self) -> set[str]:
        """Codes that only an edit fixes."""
        answered = set(self.answered)
        planned = (finding for edit in self.edits for finding in edit.findings if finding not in answered)
        return {finding.code for finding in planned if finding.severity != "note"}


def source_plan(findings: Sequence[Finding], extensions: Sequence[Extension], context: PlanContext) -> SourcePlan:
    """Group the findings by how they are fixed; edits are sorted by path."""
    grouped: dict[tuple[str, str], list[Finding]] = {}
    answered: list[Finding] = []
    left: list[UnresolvedFinding] = []
    for finding in sorted(findings, key=_sort_key):
        recipe = context.knowledge.recipe_for(finding.code)
        reason = _reason_left(finding, recipe, context)
        extra_recipe = context.knowledge.recipe_also_resolving(finding.code, finding.package)
        if extra_recipe is not None and _recipe_mismatch(extra_recipe, context.stack, context.gpu) is None:
            grouped.setdefault((finding.path, extra_recipe.id), []).append(finding)
            if reason is not None:
                continue  # the edit fixes it
        if finding.severity == "note":
            continue
        if reason is not None:
            effort = context.knowledge.codes[finding.code].effort
            left.append(UnresolvedFinding(finding=finding, reason=reason, effort=effort))
        elif context.knowledge.codes[finding.code].answered_by == "recipe" and recipe is not None:
            grouped.setdefault((finding.path, recipe.id), []).append(finding)
        else:
            answered.append(finding)
    recipes = context.knowledge.recipes
    edits = [
        _planned_edit(recipes[recipe], path, edit_findings, extensions)
        for (path, recipe), edit_findings in sorted(grouped.items())
    ]
    return SourcePlan(tuple(edits), tuple(answered), tuple(left))


def _reason_left(finding: Finding, recipe: Recipe | None, context: PlanContext) -> str | None:
    """Why a finding needs manual work; None if something fixes it."""
    answer = context.knowledge.codes[finding.code].answered_by
    if answer == "addition":
        # The port's install.sh and Dockerfile replace all other install instructions of the repository.
        return None if context.stack is not None else "no known stack supports this GPU: nothing to install"
    if answer == "decision":
        return _missing_decision(finding, context)
    if answer == "person":
        return "needs your decision about the program"
    if recipe is None:
        return "no recipe yet"
    if recipe.safety == "manual":
        return f"recipe {recipe.id} is advice, not an automatic edit"
    return _recipe_mismatch(recipe, context.stack, context.gpu)


def _missing_decision(finding: Finding, context: PlanContext) -> str | None:
    if finding.package is None:
        return "no known replacement for this package"
    return f"{finding.package} is blocked" if context.decided.get(finding.package, "blocked") == "blocked" else None


def _recipe_mismatch(recipe: Recipe, stack: Stack | None, gpu: Gpu) -> str | None:
    when = recipe.applies_when
    if when.wave_size is not None and when.wave_size != gpu.wave_size:
        return f"recipe {recipe.id} is for wave size {when.wave_size}"
    if stack is None:
        return None
    for component, required, available in (("ROCm", when.rocm, stack.rocm), ("torch", when.torch, stack.torch)):
        if required and not SpecifierSet(required).contains(available, prereleases=True):
            return f"recipe {recipe.id} is for {component} {required}"
    return None


def _planned_edit(recipe: Recipe, path: str, findings: list[Finding], extensions: Sequence[Extension]) -> PlannedEdit:
    parameters = dict(recipe.parameters)
    if _is_built_by_torch(path, extensions):
        parameters["guard"] = "torch"
    return PlannedEdit(
        recipe=recipe.id,
        rewrite=recipe.rewrite,
        parameters=parameters,
        safety=recipe.safety,
        path=path,
        findings=tuple(findings),
    )


def _is_built_by_torch(path: str, extensions: Sequence[Extension]) -> bool:
    """Whether BuildExtension compiles the file, so that USE_ROCM alone is a sufficient guard."""
    builders = {extension.how for extension in extensions if path in _source_paths(extension)}
    return builders == {"build_extension"}


def _source_paths(extension: Extension) -> set[str]:
    folder = PurePosixPath(extension.location.path).parent
    return {str(folder / source) for source in extension.sources}


def _sort_key(finding: Finding) -> tuple[str, int, int, str]:
    return finding.path, finding.line, finding.column, finding.code
