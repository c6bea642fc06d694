"""Checks ports with nvcc: units of real repositories that compile before our patch must compile after it.

    python benchmarks/nvidia.py --mirrors DIR [--pair ID] [--least 80]

The repositories are those of port.py, the patch is that of `rocm3d apply`. If fewer than --least per cent
compile before, the check proves nothing and fails; so does a lost unit. If an edit could not be guarded (launch
chevrons, a cast, an include, `__host__`), PTX and host code must be the same. Headers of NVIDIA's libraries that this
machine lacks are declared by rocm3d and listed. Compiled units are taken from rocm3d's cache.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))

from port import CONFIG, PAIRS, request
from ported import PortedCheckout, checkout, port_and_undo
from same_code import differences

from rocm3d.knowledge.load import load, tomllib
from rocm3d.model.errors import MachineError
from rocm3d.toolchain.compiler import Nvcc, find_nvcc
from rocm3d.verify.compilation.cuda_session import CudaUnitResult, compile_cuda
from rocm3d.verify.compilation.kit import find_kit
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.toolchain.torch_kit import TorchKit

CLOSED_LIST = "closed-list"


@dataclass(frozen=True)
class NvccOutcome:
    """Units of one repository by nvcc. `same` lists units with equal code, `different` the differences."""

    before: dict[str, str]
    after: dict[str, str]
    declared: frozenset[str]
    same: tuple[str, ...]
    different: tuple[str, ...]

    @property
    def lost(self) -> list[str]:
        """Units that compiled before and do not compile after."""
        return [name for name, result in self.before.items() if result == "compiled" != self.after.get(name)]


def compile_before_and_after(base: Path, knowledge: Knowledge, torch: TorchKit, nvcc: Nvcc, gpu: str) -> NvccOutcome:
    """Compile the device sources of a checkout, unchanged and with the patch as an overlay."""
    ours = port_and_undo(base, knowledge, gpu)
    before = _units(Tree.open(base), knowledge, torch, nvcc)
    after = _units(Tree.open(base, overlay=ours.edits), knowledge, torch, nvcc)
    same, different = [], []
    for item in before:
        source = item.unit.source
        if item.side.outcome == "compiled" and _is_unguarded(ours, source):
            code_differences = _compare(base, ours, item, nvcc)
            same += [] if code_differences else [source]
            different += [f"{source}: {text}" for text in code_differences]
    return NvccOutcome(
        {_name(item): _unit_result(item) for item in before},
        {_name(item): _unit_result(item) for item in after},
        frozenset(name for item in before for name in item.side.own_headers),
        tuple(same),
        tuple(different),
    )


def _units(tree: Tree, knowledge: Knowledge, torch: TorchKit, nvcc: Nvcc) -> tuple[CudaUnitResult, ...]:
    full_request = request(tree, knowledge, ())
    return compile_cuda(replace(full_request, only=lambda path: path.endswith(".cu")), torch, nvcc)


def _is_unguarded(ours: PortedCheckout, path: str) -> bool:
    return any(change.path == path and change.proof.kind == CLOSED_LIST for change in ours.patch.changes)


def _compare(base: Path, ours: PortedCheckout, item: CudaUnitResult, nvcc: Nvcc) -> list[str]:
    """Compare in a copy that has every other edit, so that only this file differs."""
    source = item.unit.source
    with tempfile.TemporaryDirectory() as scratch:
        copy, out = Path(scratch) / "tree", Path(scratch) / "out"
        out.mkdir()
        for path in Tree.open(base).paths():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_bytes(ours.edits.get(path, (base / path).read_bytes()))
        versions = (ours.originals[source], ours.edits[source])
        return differences(nvcc, Path(source), versions, item.unit.flags, copy, out)


def _name(item: CudaUnitResult) -> str:
    return f"{item.unit.source} [{item.unit.extension}]"


def _unit_result(item: CudaUnitResult) -> str:
    side = item.side
    if side.outcome == "failed" and side.errors:
        return f"{side.errors[0].path}:{side.errors[0].line}: {side.errors[0].message}"
    return f"{side.lacks} is missing" if side.lacks else side.outcome


def print_outcome(pair: dict[str, Any], outcome: NvccOutcome) -> None:
    """Print one line, then the problems."""
    count = [sum(result == "compiled" for result in side.values()) for side in (outcome.before, outcome.after)]
    print(f"{pair['id']}: {len(outcome.before)} units, {count[0]} compile before, {count[1]} after; ", end="")
    print(f"code compared: {len(outcome.same) + len(outcome.different)} units, {len(outcome.same)} equal")
    for name, result in outcome.before.items():
        if result != "compiled":
            print(f"  before: {name}: {result}")
    for name in outcome.lost:
        print(f"  LOST {name}: {outcome.after.get(name, 'is no longer a unit')}")
    for text in outcome.different:
        print(f"  DIFFERENT {text}")
    if outcome.declared:
        print(f"  headers declared by rocm3d: {', '.join(sorted(outcome.declared))}")
    sys.stdout.flush()


def main() -> int:
    """Print a line per repository; 1 if a unit is lost or differs, or too few compile before."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--pair", action="append", default=[])
    parser.add_argument("--least", type=float, default=80.0)
    options = parser.parse_args()
    config, others = (tomllib.loads(path.read_text(encoding="utf-8")) for path in (CONFIG, PAIRS))
    knowledge, nvcc = load(), find_nvcc()
    try:
        kit = find_kit(knowledge.toolchains, others["hipify"], None, None)
    except MachineError:
        kit = None
    if nvcc is None or kit is None:
        sys.exit("needs nvcc and torch headers. Run rocm3d toolchain prepare")
    outcomes: list[NvccOutcome] = []
    for pair in (*others["pairs"], *config["pairs"]):
        if not options.pair or pair["id"] in options.pair:
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch) / "base"
                base = checkout(options.mirrors, pair["repository"], pair["base"], folder, pair.get("submodules", []))
                outcomes.append(compile_before_and_after(base, knowledge, kit.torch, nvcc, config["gpu"]))
            print_outcome(pair, outcomes[-1])
    units = [result for outcome in outcomes for result in outcome.before.values()]
    share = 100 * units.count("compiled") / max(1, len(units))
    bad = sum(len(outcome.lost) + len(outcome.different) for outcome in outcomes)
    print(f"{units.count('compiled')} of {len(units)} units compile before ({share:.0f} %); {bad} lost or different")
    return 1 if bad or share < options.least else 0


if __name__ == "__main__":
    sys.exit(main())
