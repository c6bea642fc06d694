"""The report: one self-contained page, no network, readable in light and dark, on a phone and on paper."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

if TYPE_CHECKING:
    from rocm3d.model.evidence import Evidence
    from rocm3d.model.inventory import Scan
    from rocm3d.model.patch import Patch
    from rocm3d.model.plan import Plan
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
    def _failed(self) -> bool:
        return any(item.outcome == "failed" for item in self.verdicts.verdicts)


def render(report: Report) -> str:
    """The page as text."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(report=report)
