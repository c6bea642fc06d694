"""Renders a port, a bundle or a scan as one self-contained HTML page without network access."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from rocm3d.model.bundle import BundleReport, PortReport
from rocm3d.model.inventory import Scan
from rocm3d.render import rungs
from rocm3d.render.charts.dependencies import DECISIONS, DependencyNode, dependency_map
from rocm3d.render.grouping import NO_FAMILY, OUTCOME_SIGNS, SEVERITIES, group_by_family, level_summaries
from rocm3d.render.run_text import altered_text
from rocm3d.render.run_view import RunView, run_views, runs_summary, worst_tone
from rocm3d.render.sanitize import clean_multiline
from rocm3d.render.unscanned import UnscannedGroup, group_unscanned
from rocm3d.render.verdict_groups import verdict_groups

if TYPE_CHECKING:
    from rocm3d.model.bundle import ReportedRun, UnreadRun
    from rocm3d.model.evidence import Evidence
    from rocm3d.model.patch import FileChange, Patch, RefusedEdit
    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.model.port_state import PortState, Rung, RungOutcome
    from rocm3d.model.verdict import Outcome, Verdicts

# The colour of a rung is that of a check with the same outcome.
_TONES: dict[RungOutcome, Outcome] = {
    "complete": "passed",
    "partial": "not_run",
    "failed": "failed",
    "not_run": "not_run",
    "not_applicable": "skipped",
}


@dataclass(frozen=True)
class RungView:
    """One step of a ladder in a page."""

    level: str
    question: str
    outcome: Outcome
    word: str
    sign: str
    text: str

    @classmethod
    def of(cls, rung: Rung) -> RungView:
        word, sign = rungs.rung_word(rung), rungs.rung_sign(rung)
        return cls(rung.name, rungs.QUESTIONS[rung.name], _TONES[rung.outcome], word, sign, rungs.rung_detail(rung))


@dataclass(frozen=True)
class PortReportView:
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
    def state(self) -> PortState:
        """How far the port is now."""
        if self.evidence.state is None:
            raise ValueError("the evidence of a report needs a state")
        return self.evidence.state

    @property
    def outcome(self) -> str:
        """The sentence at the top of the page."""
        return "Changed since it was sealed." if self.moved else rungs.headline(self.state)

    @property
    def tone(self) -> str:
        """The CSS class of that sentence. It is green only if nothing is open."""
        return "failed" if self.moved else rungs.tone(self.state)

    @property
    def not_needed(self) -> tuple[RefusedEdit, ...]:
        """Planned edits of code that is right as it is."""
        return tuple(item for item in self.patch.refused if item.kind == "not_needed")

    @property
    def left(self) -> str:
        """Tasks, packages without a route, and stubs; empty if there are none."""
        return rungs.left_line(self.state)

    @property
    def next(self) -> str:
        """What to do next."""
        return rungs.next_line(self.state)

    @property
    def unscanned(self) -> tuple[UnscannedGroup, ...]:
        """Code that was not scanned, by reason."""
        return group_unscanned(self.scan.inventory.unscanned)

    @property
    def turned_off(self) -> tuple[DependencyDecision, ...]:
        """Decisions that remove a feature."""
        return tuple(item for item in self.plan.losses if item.loses)

    @property
    def views(self) -> tuple[RunView, ...]:
        """The runs, newest first."""
        return run_views(self.runs, self.evidence)

    @property
    def ran(self) -> str:
        """The runs in one sentence; the latest run of each name counts."""
        if self.runs:
            return runs_summary(self.views)
        if self.state.rung("ran").done:
            return "No workload run was recorded for this port."
        return "No run was recorded for this port, so nothing proves yet that it works on a GPU."

    @property
    def rungs(self) -> tuple[RungView, ...]:
        """The state, rung by rung."""
        return tuple(map(RungView.of, self.state.rungs))

    @property
    def map(self) -> Markup:
        """The dependencies as SVG."""
        nodes = [
            DependencyNode(self.families.get(item.package or "", NO_FAMILY), item.name, item.decision, item.route or "")
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
        fields = {name: getattr(self.evidence, name) for name in type(self.evidence).model_fields}
        return PortReport(**fields, moved=self.moved, runs=self.runs, unread=self.unread)

    @property
    def failed(self) -> bool:
        """Whether any check failed."""
        return any(item.outcome == "failed" for item in self.verdicts.verdicts)


def render(content: PortReportView | BundleReport | Scan) -> str:
    """The page as HTML."""
    if isinstance(content, Scan):
        severities = Counter(finding.severity for finding in content.findings)
        hides_problems = any(item.errors or item.warnings for item in content.inventory.hidden)
        unread = content.inventory.skipped or content.inventory.unscanned
        tone = "not_run" if severities["warning"] or unread or hides_problems else "passed"
        return _page(
            "scan.html",
            scan=content,
            groups=group_by_family(content.findings),
            unscanned=group_unscanned(content.inventory.unscanned),
            counts={severity: severities[severity] for severity in SEVERITIES},
            tone="failed" if severities["error"] else tone,
        )
    if isinstance(content, BundleReport):
        runs = run_views(content.runs)
        levels = [
            RungView(item.level, item.asks, item.outcome, item.word, item.sign, item.says)
            for item in level_summaries(content.bundle.verdicts)
        ]
        return _page(
            "bundle.html", bundle=content, views=runs, ran=runs_summary(runs), tone=worst_tone(runs), rungs=levels
        )
    return _page("report.html", report=content)


def _page(template: str, **parts: object) -> str:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_sanitize,
    )
    environment.filters |= {"altered": altered_text, "size": _diff_size, "diff_kind": _diff_line_kind}
    environment.filters["verdict_groups"] = verdict_groups
    environment.globals |= {"signs": OUTCOME_SIGNS}
    return environment.get_template(template).render(**parts)


def _sanitize(value: object) -> object:
    """Applied to every value of a template: removes bidi and control characters from text of the repository."""
    return value if isinstance(value, (Markup, int, float)) else clean_multiline(str(value))


def _diff_size(diff: str) -> Mapping[str, int]:
    """Numbers of added and removed lines."""
    lines = diff.split("\n")
    return {
        "plus": sum(line.startswith("+") and not line.startswith("+++ ") for line in lines),
        "minus": sum(line.startswith("-") and not line.startswith("--- ") for line in lines),
    }


def _diff_line_kind(line: str) -> str:
    if line.startswith(("@@", "+++ ", "--- ", "diff --git ")):
        return "hunk"
    return {"+": "plus", "-": "minus"}.get(line[:1], "same")
