"""Measures ports of real repositories: units that compile for AMD targets before, with our patch, with human ports.

    python benchmarks/port.py --mirrors DIR [--hip-headers FOLDER] [--pair ID] [--save FILE]
    python benchmarks/port.py --mirrors DIR --all [--pair TEXT]

Three states of each repository go through torch's own hipify and the compiler: the base, the base with the edits of
`rocm3d apply --review`, and the human ports. A unit counts for a target if host and device side compile, its build
script reaches the compiler on ROCm with flags that clang accepts, and no kernel of the CUDA build is missing or empty.
In brackets: the units that compile by themselves. Then: the size of the edit and of the smallest human port, the
isolation proof, whether apply is idempotent and undo restores every byte. --safe adds the state without --review,
--units selects sources. `--all` checks proof, idempotence and undo on every repository of port.toml, with and without
--review, and compiles nothing. Compiled units are taken from rocm3d's cache.
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
from ported import Ported, checkout, human_size, port

from rocm3d.knowledge.base import Knowledge
from rocm3d.knowledge.load import load, tomllib
from rocm3d.model.compilation import KernelFacts
from rocm3d.model.errors import Rocm3dError
from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import scan
from rocm3d.toolchain.nvcc import find_nvcc
from rocm3d.verify.compilation.compile_side import HOST
from rocm3d.verify.compilation.cuda_session import compile_cuda
from rocm3d.verify.compilation.kernel_names import compare_kernels
from rocm3d.verify.compilation.kit import CompileKit, find_kit
from rocm3d.verify.compilation.session import CompileReport, CompileRequest, UnitReport, compile_repository
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Collection

CONFIG = Path(__file__).with_suffix(".toml")
PAIRS = Path(__file__).with_name("toolchain_corpus.toml")
SECONDS = 1800.0  # for one compile: a busy machine must not lose a unit

Key = str
Kernels = dict[Key, tuple[KernelFacts, ...]]


@dataclass(frozen=True)
class Column:
    """One state of a repository: units that count and units that compile, by target, and the problems."""

    name: str
    units: set[Key]
    counted: dict[str, set[Key]]
    compiled: dict[str, set[Key]]
    wrong: tuple[str, ...]
    seconds: float

    def cell(self, target: str) -> str:
        """The cell of the table."""
        return f"{len(self.counted[target])} ({len(self.compiled[target])})"


@dataclass
class Bench:
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
        wanted = request(tree, self.knowledge, tuple(self.config["targets"]))
        return replace(wanted, only=lambda path: self.units.search(path) is not None)

    def cuda(self, tree: Tree) -> Kernels:
        """Kernels of the base, for units that compile with nvcc."""
        assert self.kit.torch is not None
        nvcc = find_nvcc()
        if nvcc is None:
            sys.exit("nvcc is not installed; it is needed to list the expected kernels")
        wanted = self.request(tree)
        device = replace(wanted, only=lambda path: path.endswith(".cu") and wanted.only(path))
        kernels: Kernels = {}
        for item in compile_cuda(device, self.kit.torch, nvcc):
            if item.side.outcome == "compiled":
                kernels[key(item.unit.source)] = (*kernels.get(key(item.unit.source), ()), *item.side.kernels)
        return kernels

    def column(self, name: str, tree: Tree, cuda: Kernels, within: Collection[Key] | None = None) -> Column:
        """Compile one state; units outside `within` are not counted."""
        started = time.monotonic()
        report = compile_repository(self.request(tree), self.kit)
        counted, compiled = {}, {}
        stopped = stopped_extensions(report)
        for target in self.config["targets"]:
            units = [item for item in report.units if within is None or key(item.unit.source) in within]
            bad = {key(item.unit.source) for item in units if not compiles(item, target)}
            compiled[target] = {key(item.unit.source) for item in units} - bad
            lost = {key(item.unit.source) for item in units if lacks_kernels(item, target, cuda)}
            without = {key(item.unit.source) for item in units if item.unit.extension in stopped}
            counted[target] = compiled[target] - lost - without
        named = {key(item.unit.source) for item in report.units}
        return Column(name, named, counted, compiled, tuple(told(report, cuda)), time.monotonic() - started)


def request(tree: Tree, knowledge: Knowledge, targets: tuple[str, ...]) -> CompileRequest:
    """The compile request for a tree; progress goes to stderr."""
    found = scan(tree, knowledge, Selection(), lambda _: None)
    return CompileRequest(
        tree,
        found.inventory.extensions,
        targets,
        knowledge,
        found.findings,
        seconds=SECONDS,
        progress=lambda message: print(f"    {message}", file=sys.stderr, flush=True),
    )


def key(source: str) -> Key:
    """A unit by its path without suffix: some ports have a translated copy next to it."""
    return str(PurePosixPath(source).with_suffix(""))


def stopped_extensions(report: CompileReport) -> set[str]:
    """Extensions whose build never reaches the compiler, or has flags that it refuses."""
    scripts = {found.script for found in report.scripts if found.problem} | {item.path for item in report.flags}
    return {item.name for found in report.scripts if found.script in scripts for item in found.extensions}


def compiles(item: UnitReport, target: str) -> bool:
    """Whether it compiles for the host, and for the target if it has device code."""
    sides = (HOST,) if item.unit.language == "c++" else (target, HOST)
    return all(item.sides[side].outcome == "compiled" for side in sides)


def lacks_kernels(item: UnitReport, target: str, cuda: Kernels) -> str:
    """Kernels of the CUDA build that are missing or empty; "" if none, or if nvcc could not compile the unit."""
    kernels = cuda.get(key(item.unit.source))
    if kernels is None or item.unit.language == "c++" or item.sides[target].outcome != "compiled":
        return ""
    found = compare_kernels(kernels, item.sides[target].kernels)
    return ", ".join((*found.vanished, *(f"{name} (empty)" for name in found.emptied)))


def told(report: CompileReport, cuda: Kernels) -> list[str]:
    """All reasons why units do not count."""
    lines = [f"{found.script}: {found.problem.message}" for found in report.scripts if found.problem]
    lines += [f"{item.path}:{item.line}: {item.message}" for item in report.flags]
    for unit in report.units:
        lines += [str(problem) for problem in unit.problems]
        lines += [f"{unit.unit.source}: {side.lacks} is missing" for side in unit.sides.values() if side.lacks]
        for side in unit.sides:
            if side != HOST and (gone := lacks_kernels(unit, side, cuda)):
                lines.append(f"{unit.unit.source} for {side}: kernels lost: {gone}")
    return [*dict.fromkeys(lines), *(f"{name} does not exist" for name in report.missing)]


def measure(bench: Bench, pair: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Measure one repository: columns, sizes and guarantees."""
    modules = pair.get("submodules", [])
    base = checkout(bench.mirrors, pair["repository"], pair["base"], scratch / "base", modules)
    safe = port(base, bench.knowledge, bench.config["gpu"], review=False)
    ours = port(base, bench.knowledge, bench.config["gpu"], review=True)
    other = port(base, bench.knowledge, bench.config["other_gpu"], review=True)
    cuda = bench.cuda(Tree.open(base))
    columns = [bench.column("base", Tree.open(base), cuda)]
    units = columns[0].units
    columns.append(bench.column("ours", Tree.open(base, overlay=ours.edits), cuda, units))
    if bench.safe:
        columns.append(bench.column("ours, safe", Tree.open(base, overlay=safe.edits), cuda, units))
    sizes = []
    for number, item in enumerate(pair["ports"][: bench.ports]):
        folder = checkout(bench.mirrors, item["repository"], item["commit"], scratch / str(number), modules)
        columns.append(bench.column(f"port {item['commit'][:7]}", Tree.open(folder), cuda, units))
        sizes.append(human_size(base, folder, tuple(bench.config["suffixes"])))
    if named := bench.config["size"].get(pair["id"]):
        folder = checkout(bench.mirrors, named["repository"], named["commit"], scratch / "size", modules)
        sizes.append(human_size(base, folder, tuple(bench.config["suffixes"])))
    show(bench, pair, columns)
    smallest = min(sizes, key=lambda item: item.lines)
    proofs = ", ".join(f"{kind} {count}" for kind, count in sorted(ours.proofs.items()))
    print(f"edit: safe {safe.size}, with --review {ours.size}; smallest human port {smallest}")
    print(f"isolation: {sum(ours.proofs.values())} edited files, each proven ({proofs or 'none'})")
    if other.edits != ours.edits:
        print(f"note: edits for {bench.config['other_gpu']} differ from those for {bench.config['gpu']}")
    for text in (*safe.broken, *ours.broken, *other.broken):
        bench.failures.append(f"{pair['id']}: {text}")
        print(f"BROKEN {text}")
    judge(bench, pair["id"], columns)
    saved = [{"name": c.name, **{t: [len(c.counted[t]), len(c.compiled[t])] for t in c.counted}} for c in columns]
    return {"pair": pair["id"], "units": len(units), "columns": saved, "ours": str(ours.size)}


def show(bench: Bench, pair: dict[str, Any], columns: list[Column]) -> None:
    """Print the table of one repository, then the problems."""
    print(f"\n## {pair['id']}\n")
    print(f"| target | {' | '.join(column.name for column in columns)} |\n|---|{'---|' * len(columns)}")
    for target in bench.config["targets"]:
        print(f"| {target} | {' | '.join(column.cell(target) for column in columns)} |")
    print()
    for column in columns:
        for line in column.wrong[:12]:
            print(f"  {column.name}: {line}")
    print(", ".join(f"{column.name} {column.seconds:.0f} s" for column in columns))


def judge(bench: Bench, name: str, columns: list[Column]) -> None:
    """Our patch must reach the best human port, and exceed the base if units of the base fail."""
    base, ours, ports = columns[0], columns[1], [item for item in columns if item.name.startswith("port")]
    for target in bench.config["targets"]:
        had, have = len(base.counted[target]), len(ours.counted[target])
        best = max(len(item.counted[target]) for item in ports)
        whole = len({*base.compiled[target], *ours.compiled[target]})
        if have < best:
            bench.failures.append(f"{name} for {target}: {have} units with our patch, {best} with the human port")
        if have <= had < max(best, whole):
            bench.failures.append(f"{name} for {target}: {had} units in the base and no more with our patch")


def check_all(bench_mirrors: Path, knowledge: Knowledge, config: dict[str, Any], wanted: list[str]) -> int:
    """Check isolation, idempotence and undo on every repository."""
    bad, edits, proofs = 0, 0, Counter[str]()
    for name in config["corpus"]:
        repository, _, commit = name.partition("@")
        if wanted and not any(text in repository for text in wanted):
            continue
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / repository.rpartition("/")[2]
            try:
                Mirror.of(bench_mirrors, repository).extract(commit, folder)
                for review in (False, True):
                    found = port(folder, knowledge, config["gpu"], review=review)
                    bad += len(found.broken)
                    _tell(repository, found, review=review)
                edits, proofs = edits + len(found.edits), proofs + found.proofs
            except Rocm3dError as failure:
                bad += 1
                print(f"{repository}: FAILED {failure}", flush=True)
        print(f"  {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    told = ", ".join(f"{kind} {count}" for kind, count in sorted(proofs.items()))
    print(f"{edits} edited files with --review ({told}); {bad} guarantees broken")
    return 1 if bad else 0


def _tell(repository: str, found: Ported, *, review: bool) -> None:
    mode = "review" if review else "safe"
    print(f"{repository} {mode}: {found.size}; refused {len(found.patch.refused)}, left {len(found.patch.left)}")
    for text in found.broken:
        print(f"  BROKEN {text}")
    sys.stdout.flush()


def main() -> int:
    """Print the tables; 1 if a target is missed or a guarantee is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--hip-headers", type=Path)
    parser.add_argument("--pair", action="append", default=[])
    parser.add_argument("--units", default="", help="only sources whose path matches this regular expression")
    parser.add_argument("--safe", action="store_true", help="add a column without --review")
    parser.add_argument("--ports", type=int, default=9, help="how many of the human ports to compile")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--all", action="store_true", help="check edits on every repository; compile nothing")
    options = parser.parse_args()
    config, others = (tomllib.loads(path.read_text(encoding="utf-8")) for path in (CONFIG, PAIRS))
    knowledge = load()
    if options.all:
        return check_all(options.mirrors, knowledge, config, options.pair)
    headers = options.hip_headers.resolve() if options.hip_headers else None
    kit = find_kit(knowledge.toolchains, others["hipify"], headers, None)
    if isinstance(kit, str):
        sys.exit(kit)
    config = {**config, "targets": others["targets"]}
    units = re.compile(options.units)
    bench = Bench(options.mirrors, knowledge, config, kit, units, options.safe, options.ports)
    saved = []
    for pair in (*others["pairs"], *config["pairs"]):
        if not options.pair or pair["id"] in options.pair:
            with tempfile.TemporaryDirectory() as scratch:
                saved.append(measure(bench, pair, Path(scratch)))
            sys.stdout.flush()
    if options.save:
        options.save.write_text(json.dumps(saved, indent=2) + "\n", encoding="utf-8")
    print(f"\n{len(bench.failures)} targets missed or guarantees broken ({kit.label})")
    print("\n".join(f"  {text}" for text in bench.failures))
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
