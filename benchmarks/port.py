"""Measures ports of real repositories: units that compile for AMD targets before, with our patch, with human ports.

    python benchmarks/port.py --mirrors DIR [--hip-headers FOLDER] [--pair ID] [--save FILE]
    python benchmarks/port.py --mirrors DIR --all [--pair TEXT]

Three states of each repository go through torch's own hipify and the compiler: the base, the base with the edits of
`rocm3d apply`, and the human ports. A unit counts for a target if host and device side compile, its build
script reaches the compiler on ROCm with flags that clang accepts, and no kernel of the CUDA build is missing or empty.
In brackets: the units that compile by themselves. Then: the size of the edit and of the smallest human port, the
isolation proof, whether apply is idempotent and undo restores every byte. --safe adds the state with --safe-only,
--units selects sources. `--all` checks proof, idempotence and undo on every repository of port.toml, with and without
--safe-only, and compiles nothing. Compiled units are taken from rocm3d's cache.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))

from mirrors import Mirror
from ported import PortedCheckout, checkout, human_size, port_and_undo

from rocm3d.knowledge.base import Knowledge
from rocm3d.knowledge.load import load, tomllib
from rocm3d.model.errors import MachineError, Rocm3dError
from rocm3d.model.verdict import KernelFacts
from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import scan
from rocm3d.toolchain.compiler import find_nvcc
from rocm3d.verify.compilation.compile_side import HOST
from rocm3d.verify.compilation.cuda_session import compile_cuda
from rocm3d.verify.compilation.kit import CompileKit, find_kit
from rocm3d.verify.compilation.session import CompileReport, CompileRequest, UnitReport, compile_repository
from rocm3d.verify.probes.match_kernels import compare_kernels
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Collection

CONFIG = Path(__file__).with_suffix(".toml")
PAIRS = Path(__file__).with_name("toolchain_corpus.toml")
SECONDS = 1800.0  # for one compile: a busy machine must not lose a unit

UnitKey = str
Kernels = dict[UnitKey, tuple[KernelFacts, ...]]


@dataclass(frozen=True)
class StateColumn:
    """One state of a repository: units that count and units that compile, by target, and the problems."""

    name: str
    units: set[UnitKey]
    counted: dict[str, set[UnitKey]]
    compiled: dict[str, set[UnitKey]]
    problems: tuple[str, ...]
    seconds: float

    def cell(self, target: str) -> str:
        return f"{len(self.counted[target])} ({len(self.compiled[target])})"


@dataclass
class PortBenchmark:
    """Inputs and failures that all repositories share."""

    mirrors: Path
    knowledge: Knowledge
    config: dict[str, Any]
    kit: CompileKit
    units: re.Pattern[str]
    safe: bool
    ports: int
    failures: list[str] = field(default_factory=list)

    def request(self, tree: Tree) -> CompileRequest:
        """The compile request for a tree, limited to the selected units."""
        full_request = request(tree, self.knowledge, tuple(self.config["targets"]))
        return replace(full_request, only=lambda path: self.units.search(path) is not None)

    def cuda_kernels(self, tree: Tree) -> Kernels:
        """Kernels of the base, for units that compile with nvcc."""
        assert self.kit.torch is not None
        nvcc = find_nvcc()
        if nvcc is None:
            sys.exit("nvcc is not installed; it is needed to list the expected kernels")
        full_request = self.request(tree)
        device = replace(full_request, only=lambda path: path.endswith(".cu") and full_request.only(path))
        kernels: Kernels = {}
        for item in compile_cuda(device, self.kit.torch, nvcc):
            if item.side.outcome == "compiled":
                kernels[unit_key(item.unit.source)] = (*kernels.get(unit_key(item.unit.source), ()), *item.side.kernels)
        return kernels

    def compile_column(
        self, name: str, tree: Tree, cuda: Kernels, within: Collection[UnitKey] | None = None
    ) -> StateColumn:
        """Compile one state; units outside `within` are not counted."""
        started = time.monotonic()
        report = compile_repository(self.request(tree), self.kit)
        counted, compiled = {}, {}
        stopped = stopped_extensions(report)
        for target in self.config["targets"]:
            units = [item for item in report.units if within is None or unit_key(item.unit.source) in within]
            bad = {unit_key(item.unit.source) for item in units if not compiles(item, target)}
            compiled[target] = {unit_key(item.unit.source) for item in units} - bad
            lost = {unit_key(item.unit.source) for item in units if missing_kernels(item, target, cuda)}
            without = {unit_key(item.unit.source) for item in units if item.unit.extension in stopped}
            counted[target] = compiled[target] - lost - without
        named = {unit_key(item.unit.source) for item in report.units}
        return StateColumn(
            name, named, counted, compiled, tuple(unit_problems(report, cuda)), time.monotonic() - started
        )


def request(tree: Tree, knowledge: Knowledge, targets: tuple[str, ...]) -> CompileRequest:
    """The compile request for a tree; progress goes to stderr."""
    scanned = scan(tree, knowledge, Selection(), lambda _: None)
    return CompileRequest(
        tree,
        scanned.inventory.extensions,
        targets,
        knowledge,
        scanned.findings,
        seconds=SECONDS,
        progress=lambda message: print(f"    {message}", file=sys.stderr, flush=True),
    )


def unit_key(source: str) -> UnitKey:
    """A unit by its path without suffix: some ports have a translated copy next to it."""
    return str(PurePosixPath(source).with_suffix(""))


def stopped_extensions(report: CompileReport) -> set[str]:
    """Extensions whose build never reaches the compiler, or has flags that it refuses."""
    scripts = {script.script for script in report.scripts if script.problem} | {item.path for item in report.flags}
    return {item.name for script in report.scripts if script.script in scripts for item in script.extensions}


def compiles(item: UnitReport, target: str) -> bool:
    """Whether it compiles for the host, and for the target if it has device code."""
    sides = (HOST,) if item.unit.language == "c++" else (target, HOST)
    return all(item.sides[side].outcome == "compiled" for side in sides)


def missing_kernels(item: UnitReport, target: str, cuda: Kernels) -> str:
    """Kernels of the CUDA build that are missing or empty; "" if none, or if nvcc could not compile the unit."""
    kernels = cuda.get(unit_key(item.unit.source))
    if kernels is None or item.unit.language == "c++" or item.sides[target].outcome != "compiled":
        return ""
    comparison = compare_kernels(kernels, item.sides[target].kernels)
    return ", ".join((*comparison.vanished, *(f"{name} (empty)" for name in comparison.emptied)))


def unit_problems(report: CompileReport, cuda: Kernels) -> list[str]:
    """All reasons why units do not count."""
    lines = [f"{script.script}: {script.problem.message}" for script in report.scripts if script.problem]
    lines += [f"{item.path}:{item.line}: {item.message}" for item in report.flags]
    for unit in report.units:
        lines += [str(problem) for problem in unit.problems]
        lines += [f"{unit.unit.source}: {side.lacks} is missing" for side in unit.sides.values() if side.lacks]
        for side in unit.sides:
            if side != HOST and (gone := missing_kernels(unit, side, cuda)):
                lines.append(f"{unit.unit.source} for {side}: kernels lost: {gone}")
    return [*dict.fromkeys(lines), *(f"{name} does not exist" for name in report.missing)]


def measure(benchmark: PortBenchmark, pair: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Measure one repository: columns, sizes and guarantees."""
    modules = pair.get("submodules", [])
    base = checkout(benchmark.mirrors, pair["repository"], pair["base"], scratch / "base", modules)
    safe = port_and_undo(base, benchmark.knowledge, benchmark.config["gpu"], safe_only=True)
    ours = port_and_undo(base, benchmark.knowledge, benchmark.config["gpu"])
    other = port_and_undo(base, benchmark.knowledge, benchmark.config["other_gpu"])
    cuda = benchmark.cuda_kernels(Tree.open(base))
    columns = [benchmark.compile_column("base", Tree.open(base), cuda)]
    units = columns[0].units
    columns.append(benchmark.compile_column("ours", Tree.open(base, overlay=ours.edits), cuda, units))
    if benchmark.safe:
        columns.append(benchmark.compile_column("ours, safe", Tree.open(base, overlay=safe.edits), cuda, units))
    sizes = []
    for number, item in enumerate(pair["ports"][: benchmark.ports]):
        folder = checkout(benchmark.mirrors, item["repository"], item["commit"], scratch / str(number), modules)
        columns.append(benchmark.compile_column(f"port {item['commit'][:7]}", Tree.open(folder), cuda, units))
        sizes.append(human_size(base, folder, tuple(benchmark.config["suffixes"])))
    if named := benchmark.config["size"].get(pair["id"]):
        folder = checkout(benchmark.mirrors, named["repository"], named["commit"], scratch / "size", modules)
        sizes.append(human_size(base, folder, tuple(benchmark.config["suffixes"])))
    print_columns(benchmark, pair, columns)
    smallest = min(sizes, key=lambda item: item.total_lines)
    proofs = ", ".join(f"{kind} {count}" for kind, count in sorted(ours.proofs.items()))
    print(f"edit: safe {safe.size}, all {ours.size}; smallest human port {smallest}")
    print(f"isolation: {sum(ours.proofs.values())} edited files, each proven ({proofs or 'none'})")
    if other.edits != ours.edits:
        print(f"note: edits for {benchmark.config['other_gpu']} differ from those for {benchmark.config['gpu']}")
    for text in (*safe.broken, *ours.broken, *other.broken):
        benchmark.failures.append(f"{pair['id']}: {text}")
        print(f"BROKEN {text}")
    check_targets(benchmark, pair["id"], columns)
    saved = [{"name": c.name, **{t: [len(c.counted[t]), len(c.compiled[t])] for t in c.counted}} for c in columns]
    return {"pair": pair["id"], "units": len(units), "columns": saved, "ours": str(ours.size)}


def print_columns(benchmark: PortBenchmark, pair: dict[str, Any], columns: list[StateColumn]) -> None:
    """Print the table of one repository, then the problems."""
    print(f"\n## {pair['id']}\n")
    print(f"| target | {' | '.join(column.name for column in columns)} |\n|---|{'---|' * len(columns)}")
    for target in benchmark.config["targets"]:
        print(f"| {target} | {' | '.join(column.cell(target) for column in columns)} |")
    print()
    for column in columns:
        for line in column.problems[:12]:
            print(f"  {column.name}: {line}")
    print(", ".join(f"{column.name} {column.seconds:.0f} s" for column in columns))


def check_targets(benchmark: PortBenchmark, name: str, columns: list[StateColumn]) -> None:
    """Our patch must reach the best human port, and exceed the base if units of the base fail."""
    base, ours, ports = columns[0], columns[1], [item for item in columns if item.name.startswith("port")]
    for target in benchmark.config["targets"]:
        base_count, our_count = len(base.counted[target]), len(ours.counted[target])
        best = max(len(item.counted[target]) for item in ports)
        whole = len({*base.compiled[target], *ours.compiled[target]})
        if our_count < best:
            benchmark.failures.append(
                f"{name} for {target}: {our_count} units with our patch, {best} with the human port"
            )
        if our_count <= base_count < max(best, whole):
            benchmark.failures.append(f"{name} for {target}: {base_count} units in the base and no more with our patch")


def check_all(mirrors: Path, knowledge: Knowledge, config: dict[str, Any], filters: list[str]) -> int:
    """Check isolation, idempotence and undo on every repository."""
    bad, edits, proofs = 0, 0, Counter[str]()
    for name in config["corpus"]:
        repository, _, commit = name.partition("@")
        if filters and not any(text in repository for text in filters):
            continue
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / repository.rpartition("/")[2]
            try:
                Mirror.of(mirrors, repository).extract(commit, folder)
                for safe_only in (True, False):
                    ported = port_and_undo(folder, knowledge, config["gpu"], safe_only=safe_only)
                    bad += len(ported.broken)
                    _print_port(repository, ported, safe_only=safe_only)
                edits, proofs = edits + len(ported.edits), proofs + ported.proofs
            except Rocm3dError as failure:
                bad += 1
                print(f"{repository}: FAILED {failure}", flush=True)
        print(f"  {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    proof_counts = ", ".join(f"{kind} {count}" for kind, count in sorted(proofs.items()))
    print(f"{edits} edited files ({proof_counts}); {bad} guarantees broken")
    return 1 if bad else 0


def _print_port(repository: str, ported: PortedCheckout, *, safe_only: bool) -> None:
    mode = "safe" if safe_only else "all"
    print(f"{repository} {mode}: {ported.size}; left out {len(ported.patch.left_out)}, tasks {len(ported.patch.tasks)}")
    for text in ported.broken:
        print(f"  BROKEN {text}")
    sys.stdout.flush()


def main() -> int:
    """Print the tables; 1 if a target is missed or a guarantee is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--hip-headers", type=Path)
    parser.add_argument("--pair", action="append", default=[])
    parser.add_argument("--units", default="", help="only sources whose path matches this regular expression")
    parser.add_argument("--safe", action="store_true", help="add a column with --safe-only")
    parser.add_argument("--ports", type=int, default=9, help="how many of the human ports to compile")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--all", action="store_true", help="check edits on every repository; compile nothing")
    options = parser.parse_args()
    config, others = (tomllib.loads(path.read_text(encoding="utf-8")) for path in (CONFIG, PAIRS))
    knowledge = load()
    if options.all:
        return check_all(options.mirrors, knowledge, config, options.pair)
    headers = options.hip_headers.resolve() if options.hip_headers else None
    try:
        kit = find_kit(knowledge.toolchains, others["hipify"], headers, None)
    except MachineError as error:
        sys.exit(error.message)
    config = {**config, "targets": others["targets"]}
    units = re.compile(options.units)
    benchmark = PortBenchmark(options.mirrors, knowledge, config, kit, units, options.safe, options.ports)
    saved = []
    for pair in (*others["pairs"], *config["pairs"]):
        if not options.pair or pair["id"] in options.pair:
            with tempfile.TemporaryDirectory() as scratch:
                saved.append(measure(benchmark, pair, Path(scratch)))
            sys.stdout.flush()
    if options.save:
        options.save.write_text(json.dumps(saved, indent=2) + "\n", encoding="utf-8")
    print(f"\n{len(benchmark.failures)} targets missed or guarantees broken ({kit.label})")
    print("\n".join(f"  {text}" for text in benchmark.failures))
    return 1 if benchmark.failures else 0


if __name__ == "__main__":
    sys.exit(main())
