"""Renders a port, a bundle or a scan as one self-contained HTML page without network access."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from rocm3d.model.inventory import Scan
from rocm3d.model.report import BundleReport, PortReport
from rocm3d.render import bundles
from rocm3d.render.charts.dependencies import DECISIONS, Node, dependency_map
from rocm3d.render.cleaning import readable
from rocm3d.render.grouping import OTHER, SEVERITIES, by_family
from rocm3d.render.ladder import SIGNS, Rung, rungs
from rocm3d.render.run_view import RunView, summed_up, views, worst

if TYPE_CHECKING:
    from rocm3d.model.evidence import Evidence
    from rocm3d.model.patch import FileChange, Patch
    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.model.report import ReportedRun, UnreadRun
    from rocm3d.model.verdict import Verdict, Verdicts


@dataclass(frozen=True)
class Report:
    """The documents of a port and their views for the templates. `moved` are files that no longer match their seal.

    `families` are titles of dependency families by package.
    """

    scan: Scan
    plan: Plan
    patch: Patch
    verdicts: Verdicts
    evidence: Evidence
    moved: tuple[str, ...] = ()
    runs: tuple[ReportedRun, ...] = ()
    unread: tuple[UnreadRun, ...] = ()
    families: Mapping[str, str] = field(default_factory=dict)

    @property
    def outcome(self) -> str:
        """The sentence at the top of the page."""
        if self.moved:
            return "Changed since it was sealed."
        if self.failed:
            return "A check failed."
        if self.plan.readiness == "blocked":
            return "Blocked: a dependency has no route to this GPU."
        if self._bad_run:
            return "A recorded run failed."
        if self.patch.left:
            return "Partly ported: some findings need your work."
        return "Ported. Checks that were not run are listed below."

    @property
    def tone(self) -> str:
        """The CSS class of that sentence. It is green only if every check ran."""
        if self.moved or self.failed or self.plan.readiness == "blocked" or self._bad_run:
            return "failed"
        return "not_run" if self.patch.left or self.not_run or self.unread else "passed"

    @property
    def not_run(self) -> tuple[Verdict, ...]:
        """Verdicts of checks that were not run."""
        return tuple(item for item in self.verdicts.verdicts if item.outcome == "not_run")

    @property
    def turned_off(self) -> tuple[DependencyDecision, ...]:
        """Decisions that remove a feature."""
        return tuple(item for item in self.plan.losses if item.loses)

    @property
    def views(self) -> tuple[RunView, ...]:
        """The runs, newest first."""
        return views(self.runs, self.evidence)

    @property
    def ran(self) -> str:
        """The runs in one sentence; the latest run of each name counts."""
        if self.runs:
            return summed_up(self.views)
        if any(item.outcome == "passed" and item.level in ("backend", "numerics") for item in self.verdicts.verdicts):
            return "No workload run was recorded for this port."
        return "No run was recorded for this port, so nothing proves yet that it works on a GPU."

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """One summary per level of checks."""
        return rungs(self.verdicts.verdicts)

    @property
    def map(self) -> Markup:
        """The dependencies as SVG."""
        nodes = [
            Node(self.families.get(item.package or "", OTHER), item.name, item.decision, item.route or "")
            for item in self.plan.decisions
        ]
        return Markup(dependency_map(nodes)) if nodes else Markup()  # noqa: S704  (drawn by us, every text escaped)

    @property
    def decided(self) -> tuple[DependencyDecision, ...]:
        """All decisions, most blocking first."""
        order = list(DECISIONS)
        return tuple(sorted(self.plan.decisions, key=lambda item: (order.index(item.decision), item.name)))

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """Edits of existing files, including submodules; then added files."""
        return (*self.patch.edited, *(change for change in self.patch.changes if change.kind == "added"))

    @property
    def document(self) -> PortReport:
        """The JSON document of the report: evidence and runs."""
        held = {name: getattr(self.evidence, name) for name in type(self.evidence).model_fields}
        return PortReport(**held, moved=self.moved, runs=self.runs, unread=self.unread)

    @property
    def _bad_run(self) -> bool:
        return worst(self.views) == "failed"

    @property
    def failed(self) -> bool:
        """Whether any check failed."""
        return any(item.outcome == "failed" for item in self.verdicts.verdicts)


def render(shown: Report | BundleReport | Scan) -> str:
    """The page as HTML."""
    if isinstance(shown, Scan):
        found = Counter(finding.severity for finding in shown.findings)
        tone = "failed" if found["error"] else "not_run" if found["warning"] or shown.inventory.skipped else "passed"
        counts = {severity: found[severity] for severity in SEVERITIES}
        return _page("scan.html", scan=shown, groups=by_family(shown.findings), counts=counts, tone=tone)
    if isinstance(shown, BundleReport):
        runs, steps = views(shown.runs), rungs(shown.bundle.verdicts)
        return _page("bundle.html", bundle=shown, views=runs, ran=summed_up(runs), tone=worst(runs), rungs=steps)
    return _page("report.html", report=shown)


def _page(template: str, **parts: object) -> str:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_readable,
    )
    environment.filters |= {"altered": bundles.altered, "size": _size, "diff_kind": _diff_kind}
    environment.globals |= {"signs": SIGNS}
    return environment.get_template(template).render(**parts)


def _readable(value: object) -> object:
    """Applied to every value of a template: removes bidi and control characters from text of the repository."""
    return value if isinstance(value, (Markup, int, float)) else readable(str(value))


def _size(diff: str) -> Mapping[str, int]:
    """Numbers of added and removed lines."""
    lines = diff.split("\n")
    return {
        "plus": sum(line.startswith("+") and not line.startswith("+++ ") for line in lines),
        "minus": sum(line.startswith("-") and not line.startswith("--- ") for line in lines),
    }


def _diff_kind(line: str) -> str:
    if line.startswith(("@@", "+++ ", "--- ", "diff --git ")):
        return "hunk"
    return {"+": "plus", "-": "minus"}.get(line[:1], "same")
