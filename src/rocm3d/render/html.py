"""A port's report or a scan's findings: one self-contained page, no network, for light, dark, phone and paper."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from rocm3d.model.inventory import Scan
from rocm3d.render.cleaning import clean
from rocm3d.render.grouping import SEVERITIES, by_family

if TYPE_CHECKING:
    from rocm3d.model.evidence import Evidence
    from rocm3d.model.patch import Patch
    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.model.verdict import Verdict, Verdicts


@dataclass(frozen=True)
class Report:
    """Everything the page shows; each part is a document that lies beside it. `moved` no longer match their seal."""

    scan: Scan
    plan: Plan
    patch: Patch
    verdicts: Verdicts
    evidence: Evidence
    moved: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """The one sentence at the top."""
        if self.moved:
            return "Changed since it was sealed."
        if self._failed:
            return "A check failed."
        if self.plan.readiness == "blocked":
            return "Blocked: a dependency has no route to this GPU."
        if self.patch.left:
            return "Ported in part: work is left for a person."
        return "Ported; what was not run is listed below."

    @property
    def tone(self) -> str:
        """The colour of that sentence: nothing is green while something was not run."""
        if self.moved or self._failed or self.plan.readiness == "blocked":
            return "failed"
        return "not_run" if self.patch.left or self.not_run else "passed"

    @property
    def not_run(self) -> tuple[Verdict, ...]:
        """Checks that nobody made."""
        return tuple(item for item in self.verdicts.verdicts if item.outcome == "not_run")

    @property
    def turned_off(self) -> tuple[DependencyDecision, ...]:
        """Decisions that take a feature away."""
        return tuple(item for item in self.plan.losses if item.loses)

    @property
    def _failed(self) -> bool:
        return any(item.outcome == "failed" for item in self.verdicts.verdicts)


def render(shown: Report | Scan) -> str:
    """The page as text."""
    if isinstance(shown, Scan):
        found = Counter(finding.severity for finding in shown.findings)
        tone = "failed" if found["error"] else "not_run" if found["warning"] or shown.inventory.skipped else "passed"
        counts = {severity: found[severity] for severity in SEVERITIES}
        return _page("scan.html", scan=shown, groups=by_family(shown.findings), counts=counts, tone=tone)
    return _page("report.html", report=shown)


def _page(template: str, **parts: object) -> str:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["clean"] = clean
    return environment.get_template(template).render(**parts)
