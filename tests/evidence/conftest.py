"""Hand-made documents to count and seal."""

from __future__ import annotations

import pytest

from rocm3d.model.finding import Finding
from rocm3d.model.patch import FileChange, Patch, Proof, Refused
from rocm3d.model.plan import DependencyDecision, LeftForPerson, Plan
from rocm3d.model.target import Gpu
from rocm3d.model.verdict import Verdict, Verdicts

GPU = Gpu(gfx="gfx942", product="mi300x", title="MI300X", wave_size=64, vram_gb=192)


@pytest.fixture
def documents():
    """A plan, a patch and verdicts with so many of each."""

    def make(decisions=(), changed=0, left=0, refused=0, outcomes=(), levels=None) -> tuple[Plan, Patch, Verdicts]:
        found = Finding(code="PY101", rule="x", severity="error", path="a", line=1, column=1, message="m", hint="h")
        decided = tuple(
            DependencyDecision(name=f"p{at}", package="p", decision=decision, route="r", reason="because")
            for at, decision in enumerate(decisions)
        )
        plan = Plan(
            repository="r",
            gpu=GPU,
            stack=None,
            base=None,
            rejected_stacks=(),
            decisions=decided,
            edits=(),
            answered=(),
            left=(),
            readiness="partial",
            knowledge_date="2026-11-15",
        )
        proof = Proof(kind="added-file", holds=True, detail="d")
        changes = tuple(
            FileChange(path=f"f{at}", kind="added", before=None, after=f"{at:064}", recipes=(), proof=proof, diff="")
            for at in range(changed)
        )
        patch = Patch(
            repository="r",
            folder="rocm-port",
            dry_run=False,
            changes=changes,
            refused=tuple(Refused(path=f"f{at}", recipe="x", reason="no") for at in range(refused)),
            left=tuple(LeftForPerson(finding=found, reason="no") for _ in range(left)),
        )
        found_levels = levels or ["static"] * len(outcomes)
        verdicts = tuple(
            Verdict(
                level=level,
                probe="p",
                outcome=outcome,
                reason="" if outcome == "passed" else f"why {level}",
                looked_at=("x",) if outcome == "passed" else (),
            )
            for level, outcome in zip(found_levels, outcomes, strict=True)
        )
        return plan, patch, Verdicts(repository="r", targets=("gfx942",), verdicts=verdicts)

    return make
