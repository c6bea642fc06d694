"""Summarizes the documents of the stages in one line each, for a bundle."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rocm3d.evidence.tally import tally
from rocm3d.model.bundle import StageSummary
from rocm3d.model.inventory import Scan
from rocm3d.model.patch import Patch
from rocm3d.model.plan import Plan
from rocm3d.model.verdict import Verdict, Verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocm3d.model.base import Document
    from rocm3d.model.evidence import Tally

FOLDER = "documents"
# In the order of the stages: name, file, model.
_STAGES: tuple[tuple[str, str, type[Document]], ...] = (
    ("scan", "inventory.json", Scan),
    ("plan", "plan.json", Plan),
    ("apply", "patch.json", Patch),
    ("verify", "verdicts.json", Verdicts),
)
FILES = tuple(name for _, name, _ in _STAGES)


class StageDocuments:
    """The documents that exist, parsed. Another schema version raises UserError."""

    def __init__(self, documents: Mapping[str, bytes]) -> None:
        self.documents: dict[str, Document] = {
            stage: kind.from_json(documents[name].decode("utf-8", "replace"), name)
            for stage, name, kind in _STAGES
            if name in documents
        }

    def summaries(self) -> tuple[StageSummary, ...]:
        files = {stage: name for stage, name, _ in _STAGES}
        return tuple(
            StageSummary(stage=stage, path=f"{FOLDER}/{files[stage]}", says=_summarize(document))
            for stage, document in self.documents.items()
        )

    def verdicts(self) -> tuple[Verdict, ...]:
        document = self.documents.get("verify")
        return document.verdicts if isinstance(document, Verdicts) else ()

    def tally(self) -> Tally | None:
        """None unless plan, patch and verdicts all exist."""
        plan, patch, verdicts = (self.documents.get(stage) for stage in ("plan", "apply", "verify"))
        if isinstance(plan, Plan) and isinstance(patch, Patch) and isinstance(verdicts, Verdicts):
            return tally(plan, patch, verdicts)
        return None


def _summarize(document: Document) -> str:
    if isinstance(document, Scan):
        severities = Counter(item.severity for item in document.findings)
        return f"{document.inventory.readiness}; errors: {severities['error']}, warnings: {severities['warning']}"
    if isinstance(document, Plan):
        stack = document.stack.id if document.stack else "no stack"
        return f"{document.readiness} on {document.gpu.title} with {stack}; decisions: {len(document.decisions)}"
    if isinstance(document, Patch):
        return f"files changed: {len(document.changes)}, edits refused: {len(document.refused)}"
    assert isinstance(document, Verdicts)
    outcomes = Counter(item.outcome for item in document.verdicts)
    return ", ".join(f"{outcomes[word]} {word}" for word in ("passed", "failed", "skipped", "not_run"))
