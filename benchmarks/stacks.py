"""On which stack the requirements of real repositories resolve: that of the plan, and that of the locked plan.

    python benchmarks/stacks.py [--gpu mi300x] [--mirrors DIR] [ID ...]

Uses the requirement sets of tests/full, and with --mirrors the files of its `[[repositories]]` (ids `repo:NAME`). uv
resolves against the index that pip is configured with; nothing is installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mirrors import Mirror
from resolver import SETS, load_sets, write_repository

from rocm3d.knowledge.load import tomllib
from rocm3d.model.errors import MachineError
from rocm3d.pipeline import FOLDER, Network, Repository, load, resolve_gpu

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.target import Gpu


def repositories(folder: Path, mirrors: Path | None, ids: list[str]) -> Iterator[tuple[str, Path]]:
    """Source and folder of each repository, written below `folder`."""
    for item in load_sets():
        if not ids or item.id in ids:
            yield item.source.split()[0], write_repository(item, folder)
    for entry in tomllib.loads(SETS.read_text(encoding="utf-8"))["repositories"] if mirrors else ():
        if not ids or f"repo:{entry['id']}" in ids:
            repository, _, commit = entry["source"].partition("@")
            Mirror.of(mirrors, repository).extract(commit, folder / entry["id"])
            yield f"{repository}@{commit[:8]}", folder / entry["id"]


def row(root: Path, knowledge: Knowledge, gpu: Gpu) -> tuple[str, str, str]:
    """The stack of the plan, whether its port resolves there, and the stack of the locked plan."""
    repository = Repository(root, knowledge)
    plan = repository.plan(gpu)
    repository.apply(plan)
    verdicts = repository.verify(("resolve",), (), Network(disabled_reason="")).verdicts
    port = [item for item in verdicts if item.probe == "resolve_port"]
    entries = f"{FOLDER}/requirements"  # what install.sh installs; files of examples are sets of their own
    failed = [item.reason for item in port if item.outcome == "failed" and item.reason.startswith(entries)]
    resolves = failed[0][:200] if failed else "yes" if any(item.outcome == "passed" for item in port) else "not run"
    try:
        locked = repository.plan(gpu, lock=True).stack
    except MachineError as error:
        return plan.stack.id if plan.stack else "none", resolves, f"none: {error.message[:200]}"
    return plan.stack.id if plan.stack else "none", resolves, locked.id if locked else "none"


def main() -> int:
    """Print a Markdown table, one row per repository."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--gpu", default="mi300x")
    parser.add_argument("--mirrors", type=Path)
    parser.add_argument("ids", nargs="*")
    options = parser.parse_args()
    knowledge = load()
    gpu = resolve_gpu(options.gpu, knowledge)
    print("| repository | stack of the plan | resolves there | stack of `plan --lock` |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for source, root in repositories(Path(folder), options.mirrors, options.ids):
            cells = row(root, knowledge, gpu)
            print(f"| {source} | {' | '.join(' '.join(cell.split()) for cell in cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
