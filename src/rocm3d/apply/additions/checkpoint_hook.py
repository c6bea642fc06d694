"""convert_checkpoint.py: converts weights to the layout of a substitute library. Added only if the port needs it."""

from __future__ import annotations

import re
from pathlib import Path

from rocm3d.model.plan import Plan
from rocm3d.workspace.tree import Tree

_TEMPLATE = Path(__file__).parent.parent / "templates" / "convert_checkpoint.py.in"
_PACKAGES = re.compile(r"^Packages: (.+)$", re.MULTILINE)
_CODE = "PY405"


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """The script, if a finding loads weights of one of the packages that the script's header lists."""
    text = _TEMPLATE.read_text("utf-8")
    known = {name for line in _PACKAGES.findall(text) for name in line.split(", ")}
    findings = [
        *(leftover.finding for leftover in plan.left),
        *(edit_finding for edit in plan.edits for edit_finding in edit.findings),
    ]
    if any(finding.code == _CODE and finding.package in known for finding in findings):
        return {"scripts.d/convert_checkpoint.py": text.encode()}
    return {}
