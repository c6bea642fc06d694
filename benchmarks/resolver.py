"""Resolver proof for the requirements of real repositories: what the original installs, and what the port installs.

    python benchmarks/resolver.py [--gpu mi300x] [ID ...]

Uses the index that pip is configured with. Nothing is installed and no package is fetched; only for sdists without
static metadata the metadata is built.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.knowledge.load import tomllib
from rocm3d.pipeline import Network, Repository, load, resolve_gpu

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.verdict import Verdicts

SETS = Path(__file__).resolve().parents[1] / "tests" / "full" / "requirement_sets.toml"
_COUNTS = re.compile(r": (\d+ packages?), ([\d.]+ [GM]B), (none|\d+) of CUDA(?: \(([\d.]+ [GM]B)\))?")


@dataclass(frozen=True)
class RequirementSet:
    """Direct dependencies of one repository. `fails` are source builds that fail in a plain install."""

    id: str
    source: str
    file: str
    lines: tuple[str, ...]
    fails: tuple[str, ...] = ()


def load_sets() -> list[RequirementSet]:
    """Every set, in the order of the file."""
    listed = tomllib.loads(SETS.read_text(encoding="utf-8"))["sets"]
    return [
        RequirementSet(**{**item, "lines": tuple(item["lines"]), "fails": tuple(item.get("fails", ()))})
        for item in listed
    ]


def write_repository(requirement_set: RequirementSet, folder: Path) -> Path:
    """Write a repository with just these requirements, in a file of the same kind."""
    root = folder / requirement_set.id
    root.mkdir(parents=True)
    if requirement_set.file.endswith(".py"):
        arguments = f"name={requirement_set.id!r}, install_requires={list(requirement_set.lines)!r}"
        text = f"from setuptools import setup\n\nsetup({arguments})\n"
    elif requirement_set.file.endswith(".sh"):
        text = "".join(f"pip install {line!r}\n" for line in requirement_set.lines)
    else:
        text = "".join(f"{line}\n" for line in requirement_set.lines)
    (root / requirement_set.file).write_text(text, encoding="utf-8")
    return root


def resolve_port(root: Path, knowledge: Knowledge, gpu: str) -> tuple[str, Verdicts]:
    """Port a repository and resolve it; returns the stack and the verdicts."""
    repository = Repository(root, knowledge)
    plan = repository.plan(resolve_gpu(gpu, knowledge))
    repository.apply(plan)
    verdicts = repository.verify(("resolve",), (), Network(disabled_reason=""))
    return plan.stack.id if plan.stack else "none", verdicts


def counts(verdicts: Verdicts, probe: str) -> list[tuple[str, str, str, str]]:
    """Packages, bytes, CUDA packages and their bytes, for each set that the probe resolved."""
    lines = [line for item in verdicts.verdicts if item.probe == probe for line in item.looked_at]
    return [(match[1], match[2], match[3], match[4] or "") for line in lines if (match := _COUNTS.search(line))]


def main() -> int:
    """Print a Markdown table, one row per set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--gpu", default="mi300x")
    parser.add_argument("ids", nargs="*")
    options = parser.parse_args()
    knowledge = load()
    print("| repository | original: packages, bytes | of CUDA | port: packages on top of the stack | of CUDA | stack |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for item in load_sets():
            if options.ids and item.id not in options.ids:
                continue
            stack, verdicts = resolve_port(write_repository(item, Path(folder)), knowledge, options.gpu)
            before, after = counts(verdicts, "resolve_original"), counts(verdicts, "resolve_port")
            first = [f"{n}, {size} | {cuda}{f' ({of})' if of else ''}" for n, size, cuda, of in before[:1]] or ["- | -"]
            second = [f"{n}, {size} | {cuda}" for n, size, cuda, _ in after[:1]] or ["- | -"]
            print(f"| {item.source.split()[0]} | {first[0]} | {second[0]} | {stack} |", flush=True)
            for verdict in verdicts.verdicts:
                if verdict.outcome in ("failed", "not_run"):
                    print(f"{item.id}: {verdict.outcome}: {verdict.probe}: {verdict.reason[:300]}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
