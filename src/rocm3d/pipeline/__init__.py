"""Composes the stages: the only package that imports all of them. CLI and MCP use these names and nothing below.

A name is imported on first access, with only the stages that it needs (docs/decisions/0008).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.apply.edit_selection import EditSelection as EditSelection
    from rocm3d.apply.stage import MANIFEST as MANIFEST
    from rocm3d.evidence.ledger import LedgerChange as LedgerChange
    from rocm3d.evidence.ledger import LedgerFile as LedgerFile
    from rocm3d.evidence.run_bundles import bundle_report as bundle_report
    from rocm3d.evidence.run_bundles import is_bundle as is_bundle
    from rocm3d.knowledge.load import load as load
    from rocm3d.pipeline.doctor import examine as examine
    from rocm3d.pipeline.doctor import read_plan as read_plan
    from rocm3d.pipeline.doctor import read_snapshot as read_snapshot
    from rocm3d.pipeline.doctor import save_snapshot as save_snapshot
    from rocm3d.pipeline.doctor import take_snapshot as take_snapshot
    from rocm3d.pipeline.evidence import check_bundle as check_bundle
    from rocm3d.pipeline.evidence import compare_bundles as compare_bundles
    from rocm3d.pipeline.evidence import support_matrix as support_matrix
    from rocm3d.pipeline.fit import fit_model as fit_model
    from rocm3d.pipeline.golden import record_golden as record_golden
    from rocm3d.pipeline.knowledge import check_knowledge as check_knowledge
    from rocm3d.pipeline.machine import find_toolchains as find_toolchains
    from rocm3d.pipeline.machine import prepare_toolchain as prepare_toolchain
    from rocm3d.pipeline.machine import resolve_gpu as resolve_gpu
    from rocm3d.pipeline.machine import smoke as smoke
    from rocm3d.pipeline.review import open_review as open_review
    from rocm3d.pipeline.skill import check_skill as check_skill
    from rocm3d.pipeline.skill import write_skill as write_skill
    from rocm3d.pipeline.upstream import draft_upstream as draft_upstream
    from rocm3d.plan.stacks import PlanOptions as PlanOptions
    from rocm3d.record.golden import RecordingRequest as RecordingRequest
    from rocm3d.repository import COMMIT as COMMIT
    from rocm3d.repository import FOLDER as FOLDER
    from rocm3d.repository import ApplyOptions as ApplyOptions
    from rocm3d.repository import Repository as Repository
    from rocm3d.toolchain.inspect import inspect as inspect
    from rocm3d.verify.compilation.compile_options import Budget as Budget
    from rocm3d.verify.compilation.compile_options import CompileOptions as CompileOptions
    from rocm3d.verify.golden import Tolerances as Tolerances
    from rocm3d.verify.golden import compare_golden as compare_golden
    from rocm3d.verify.probe import Network as Network
    from rocm3d.verify.probe import ResolverName as ResolverName
    from rocm3d.verify.stage import LEVELS as LEVELS

# The module of each name; a test compares this table with the imports above.
_MODULE_OF = {
    "LedgerFile": "rocm3d.evidence.ledger",
    "Budget": "rocm3d.verify.compilation.compile_options",
    "CompileOptions": "rocm3d.verify.compilation.compile_options",
    "ApplyOptions": "rocm3d.repository",
    "COMMIT": "rocm3d.repository",
    "EditSelection": "rocm3d.apply.edit_selection",
    "FOLDER": "rocm3d.repository",
    "LedgerChange": "rocm3d.evidence.ledger",
    "LEVELS": "rocm3d.verify.stage",
    "MANIFEST": "rocm3d.apply.stage",
    "Network": "rocm3d.verify.probe",
    "Repository": "rocm3d.repository",
    "ResolverName": "rocm3d.verify.probe",
    "Tolerances": "rocm3d.verify.golden",
    "RecordingRequest": "rocm3d.record.golden",
    "PlanOptions": "rocm3d.plan.stacks",
    "bundle_report": "rocm3d.evidence.run_bundles",
    "check_bundle": "rocm3d.pipeline.evidence",
    "check_knowledge": "rocm3d.pipeline.knowledge",
    "check_skill": "rocm3d.pipeline.skill",
    "compare_bundles": "rocm3d.pipeline.evidence",
    "compare_golden": "rocm3d.verify.golden",
    "draft_upstream": "rocm3d.pipeline.upstream",
    "examine": "rocm3d.pipeline.doctor",
    "find_toolchains": "rocm3d.pipeline.machine",
    "fit_model": "rocm3d.pipeline.fit",
    "inspect": "rocm3d.toolchain.inspect",
    "is_bundle": "rocm3d.evidence.run_bundles",
    "load": "rocm3d.knowledge.load",
    "open_review": "rocm3d.pipeline.review",
    "prepare_toolchain": "rocm3d.pipeline.machine",
    "read_plan": "rocm3d.pipeline.doctor",
    "read_snapshot": "rocm3d.pipeline.doctor",
    "record_golden": "rocm3d.pipeline.golden",
    "resolve_gpu": "rocm3d.pipeline.machine",
    "save_snapshot": "rocm3d.pipeline.doctor",
    "smoke": "rocm3d.pipeline.machine",
    "support_matrix": "rocm3d.pipeline.evidence",
    "take_snapshot": "rocm3d.pipeline.doctor",
    "write_skill": "rocm3d.pipeline.skill",
}

# Hidden from the type checker, which would otherwise accept any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_MODULE_OF[name]), name)
        globals()[name] = value
        return value
