"""Compiles real repositories for AMD targets before and after human ports, with declared and with real headers.

    python benchmarks/toolchain_corpus.py --mirrors DIR [--hip-headers FOLDER] [--pair ID] [--only TEXT] [--save FILE]

benchmarks/toolchain_corpus.toml lists the states, and the errors with lines that the unported state must have.
FOLDER is the output of benchmarks/rocm_headers.py; with it every unit is compiled with both kinds of headers, and
disagreements are listed. Compiled units are taken from rocm3d's cache.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mirrors import Mirror

from rocm3d.knowledge.base import Knowledge
from rocm3d.knowledge.load import load, tomllib
from rocm3d.model.errors import MachineError
from rocm3d.repository import Repository
from rocm3d.verify.compilation.classify import CompileProblem
from rocm3d.verify.compilation.kit import CompileKit, find_kit
from rocm3d.verify.compilation.session import CompileReport, CompileRequest, compile_repository
from rocm3d.workspace.tree import Tree

CONFIG = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class CompiledState:
    """One state of a repository, compiled with one kind of headers."""

    pair: str
    state: str
    headers: str
    report: CompileReport
    seconds: float

    @property
    def problems(self) -> list[CompileProblem]:
        """Problems of scripts, flags and units."""
        scripts = [script.problem for script in self.report.scripts if script.problem]
        return [*scripts, *self.report.flags, *(item for unit in self.report.units for item in unit.problems)]

    @property
    def units(self) -> dict[str, str]:
        """Outcome by source: the worst of host and targets."""
        order = ("failed", "timed_out", "lacks", "compiled")
        return {
            f"{item.unit.source} [{item.unit.extension}]": min(
                (side.outcome for side in item.sides.values()), key=order.index
            )
            for item in self.report.units
        }


def extract(mirrors: Path, repository: str, commit: str, folder: Path, submodules: list[dict[str, str]]) -> Path:
    """Write the tree of a commit with its submodules."""
    parts = [{"path": ".", "repository": repository, "commit": commit}, *submodules]
    for item in parts:
        mirror = Mirror.of(mirrors, item["repository"]).folder
        command = ["git", "-C", str(mirror), "archive", item["commit"]]
        data = subprocess.run(command, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(folder / item["path"], filter="data")
    return folder


def compile_state(
    folder: Path, kit: CompileKit, knowledge: Knowledge, config: dict[str, Any], options: argparse.Namespace
) -> CompileReport:
    with tempfile.TemporaryDirectory() as work:
        scan = Repository(folder, knowledge, work=Path(work)).scan()
    request = CompileRequest(
        Tree.open(folder),
        scan.inventory.extensions,
        tuple(options.target or config["targets"]),
        knowledge,
        scan.findings,
        only=lambda path: options.only in path and path.endswith(tuple(options.suffix)),
        progress=lambda message: print(f"    {message}", file=sys.stderr, flush=True),
    )
    return compile_repository(request, kit)


def run_pair(
    pair: dict[str, Any], options: argparse.Namespace, config: dict[str, Any], kits: dict[str, CompileKit]
) -> list[CompiledState]:
    """Compile base and ports with every kind of headers."""
    knowledge, states = load(), []
    states_to_compile = [
        ("base", pair["repository"], pair["base"]),
        *((f"port {p['commit'][:7]}", p["repository"], p["commit"]) for p in pair["ports"]),
    ]
    for name, repository, commit in states_to_compile:
        with tempfile.TemporaryDirectory() as scratch:
            folder = extract(options.mirrors, repository, commit, Path(scratch) / "tree", pair.get("submodules", []))
            for headers, kit in kits.items():
                print(f"  {pair['id']} {name}, {headers} headers", file=sys.stderr, flush=True)
                started = time.monotonic()
                report = compile_state(folder, kit, knowledge, config, options)
                states.append(CompiledState(pair["id"], name, headers, report, time.monotonic() - started))
    return states


def split_expected_errors(pair: dict[str, Any], state: CompiledState) -> tuple[list[str], list[str]]:
    """The expected errors of the base that are reported, and those that are missing."""
    reported = {f"{item.path}:{item.line} {item.code}" for item in state.problems}
    reported |= {f"{position} {item.code}" for item in state.problems for position in item.also}
    return [item for item in pair["errors"] if item in reported], [
        item for item in pair["errors"] if item not in reported
    ]


def report_lines(pair: dict[str, Any], states: list[CompiledState]) -> list[str]:
    """Lines of one repository: its table, missed errors, and all other problems."""
    names = [f"{state.state}, {state.headers}" for state in states]
    lines = [f"## {pair['id']}", "", f"| unit | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    sources = sorted({source for state in states for source in state.units})
    lines += [f"| {source} | {' | '.join(state.units.get(source, '-') for state in states)} |" for source in sources]
    lines += ["", *(f"{name}: {state.seconds:.0f} s" for name, state in zip(names, states, strict=True))]
    for state in states:
        if state.state == "base":
            reported, missed = split_expected_errors(pair, state)
            lines.append(f"base, {state.headers}: {len(reported)} of {len(pair['errors'])} expected errors reported")
            lines += [f"  missed: {item}" for item in missed]
        lines += [f"  {state.state}, {state.headers}: {item}" for item in dict.fromkeys(map(str, state.problems))]
        lines += [f"  {state.state}, {state.headers}: missing: {name}" for name in state.report.missing]
    return [*lines, *disagreements(states), ""]


def disagreements(states: list[CompiledState]) -> list[str]:
    """Units whose outcome depends on the kind of headers."""
    lines = []
    for state in states:
        for other in states:
            if state.state == other.state and state.headers < other.headers:
                lines += [
                    f"DISAGREE {state.state} {source}: {state.headers} {state.units[source]}, "
                    f"{other.headers} {other.units[source]}"
                    for source in state.units
                    if state.units[source] != other.units.get(source)
                ]
    return lines


def main() -> int:
    """Print the tables; 1 if an expected error is missing, a port fails, or headers disagree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--hip-headers", type=Path)
    parser.add_argument("--pair", action="append", default=[])
    parser.add_argument("--only", default="", help="only sources whose path contains this text")
    parser.add_argument("--suffix", action="append", default=[], help="only sources with this suffix, for example .cu")
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--save", type=Path)
    parser.add_argument("--hipify", type=int, choices=(1, 2))
    options = parser.parse_args()
    options.suffix = options.suffix or [""]
    config = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    generation = options.hipify or config["hipify"]
    kits: dict[str, CompileKit] = {}
    for name, headers in (("declared", None), ("real", options.hip_headers)):
        if name == "declared" or headers is not None:
            try:
                kit = find_kit(load().toolchains, generation, headers.resolve() if headers else None, None)
            except MachineError as error:
                sys.exit(error.message)
            kits[name] = kit
    bad, saved = 0, []
    for pair in config["pairs"]:
        if options.pair and pair["id"] not in options.pair:
            continue
        states = run_pair(pair, options, config, kits)
        print("\n".join(report_lines(pair, states)), flush=True)
        bad += sum(len(split_expected_errors(pair, state)[1]) for state in states if state.state == "base")
        bad += sum(bool(state.problems) for state in states if state.state != "base") + len(disagreements(states))
        saved += [
            {"pair": s.pair, "state": s.state, "headers": s.headers, "units": s.units, "seconds": s.seconds}
            for s in states
        ]
    if options.save:
        options.save.write_text(json.dumps(saved, indent=2) + "\n", encoding="utf-8")
    print(f"{bad} expected errors missed, ports with errors, or disagreements")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
