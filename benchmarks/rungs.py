"""Ports real repositories with the default command and shows how far each gets, rung by rung.

    python benchmarks/rungs.py --mirrors DIR [--only TEXT] [--write]     the systems of rungs.toml, for docs/ports.md
    python benchmarks/rungs.py --mirrors DIR --units [--only TEXT]       repositories with native code, by unit

Each source tree is taken from a mirror, with its submodules at their commits, and ported by `rocm3d port --into`, as a
user would. --hip-headers is passed on. Compiled units are cached, so an interrupted run continues. Exit code 1 if a
system is not scanned, planned and edited, or if a unit does not compile.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mirrors import Mirror

from rocm3d.knowledge.load import tomllib
from rocm3d.model.evidence import Evidence
from rocm3d.model.patch import Patch
from rocm3d.model.port_state import PortState
from rocm3d.model.verdict import HOST, Verdicts
from rocm3d.render.rungs import rung_detail, rung_word

FOLDER = Path(__file__).parent
CONFIG = FOLDER / "rungs.toml"
PAGE = FOLDER.parent / "docs" / "ports.md"
BEGIN, END = "<!-- rungs -->\n", "<!-- end -->\n"
NEEDED = ("scanned", "planned", "edited")


@dataclass(frozen=True)
class PortedSystem:
    """One port by the command line: its exit code and documents."""

    name: str
    gpu: str
    code: int
    state: PortState
    patch: Patch
    verdicts: Verdicts
    error: str


def read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def port(entry: dict[str, Any], gpu: str, mirrors: Path, options: list[str]) -> PortedSystem:
    """Extract the sources, port a copy, and read what the port wrote."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / entry["repository"].partition("/")[2]
        commit = entry.get("commit") or entry["base"]
        Mirror.of(mirrors, entry["repository"]).extract(commit, folder, every_file=True)
        for module in entry.get("submodules", ()):
            Mirror.of(mirrors, module["repository"]).extract(module["commit"], folder / module["path"], every_file=True)
        copy = Path(name) / "port"
        command = ["port", str(folder), "--gpu", gpu, "--into", str(copy), "--budget", "6h", *options]
        ended = subprocess.run(
            [sys.executable, "-m", "rocm3d", *command], capture_output=True, text=True, encoding="utf-8", check=False
        )
        work = copy / ".rocm3d"
        if not (work / "evidence.json").is_file():
            raise SystemExit(f"{entry['repository']}: exit code {ended.returncode}\n{ended.stderr}")
        evidence, patch, verdicts = (
            kind.from_json((work / file).read_text(encoding="utf-8"), file)
            for kind, file in ((Evidence, "evidence.json"), (Patch, "patch.json"), (Verdicts, "verdicts.json"))
        )
        assert isinstance(evidence, Evidence)
        assert isinstance(patch, Patch)
        assert isinstance(verdicts, Verdicts)
        assert evidence.state is not None
        title = f"{entry['repository']}@{commit[:8]}"
        return PortedSystem(title, gpu, ended.returncode, evidence.state, patch, verdicts, ended.stderr)


def compiled_units(verdicts: Verdicts) -> tuple[Counter[str], int]:
    """Units that compile for each target and for the host, and the number of units."""
    outcomes: dict[str, dict[str, str]] = {}
    for item in verdicts.verdicts:
        if item.level == "compile" and item.subject and item.target:
            outcomes.setdefault(item.subject, {})[item.target] = item.outcome
    good: Counter[str] = Counter()
    for sides in outcomes.values():
        for target in verdicts.targets:
            good[target] += all(sides.get(side, "passed") == "passed" for side in (target, HOST))
    return good, len(outcomes)


def table(systems: list[PortedSystem]) -> Iterator[str]:
    """One row for each port, then what is open in each."""
    rungs = [rung.name for rung in systems[0].state.rungs]
    yield f"| system | GPU | {' | '.join(rungs)} | tasks | exit code |"
    yield "|" + "---|" * (len(rungs) + 4)
    for item in systems:
        words = " | ".join(rung_word(rung) for rung in item.state.rungs)
        yield f"| {item.name} | {item.gpu} | {words} | {item.state.tasks} | {item.code} |"
    for item in systems:
        yield f"\n### {item.name.partition('@')[0]}, {item.gpu}\n"
        if item.state.stubs:
            yield f"Stub or substitute, never verified: {', '.join(item.state.stubs)}.\n"
        for rung in item.state.rungs:
            if rung.is_open:
                yield f"- {rung.name}: {rung_word(rung)}; {rung_detail(rung)}".rstrip("; ")
        for task in item.patch.tasks:
            lines = f":{','.join(map(str, task.lines))}" if task.lines else ""
            code = f" {task.code} {task.rule}" if task.code else ""
            yield f"- task, `{task.path}{lines}`{code}: {task.reason}. {task.action}"


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--only", default="", help="part of the repository's name")
    parser.add_argument("--units", action="store_true")
    parser.add_argument("--write", action="store_true", help="update docs/ports.md")
    parser.add_argument("--hip-headers", type=Path)
    options = parser.parse_args()
    passed_on = ["--hip-headers", str(options.hip_headers)] if options.hip_headers else []
    if options.units:
        pairs = [*read_toml(FOLDER / "toolchain_corpus.toml")["pairs"], *read_toml(FOLDER / "port.toml")["pairs"]]
        return show_units([pair for pair in pairs if options.only in pair["repository"]], options.mirrors, passed_on)
    config = read_toml(CONFIG)
    chosen = [entry for entry in config["systems"] if options.only in entry["repository"]]
    systems = [port(entry, gpu, options.mirrors, passed_on) for entry in chosen for gpu in config["gpus"]]
    lines = "".join(f"{line}\n" for line in table(systems))
    print(lines)
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{lines}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return int(any(item.state.rung(name).is_open for item in systems for name in NEEDED))  # type: ignore[arg-type]


def show_units(pairs: list[dict[str, Any]], mirrors: Path, options: list[str]) -> int:
    """Print the units of each repository that compile."""
    total: Counter[str] = Counter()
    for pair in pairs:
        ported = port(pair, "mi300x", mirrors, options)
        good, units = compiled_units(ported.verdicts)
        total.update(good | Counter(units=units))
        counts = ", ".join(f"{target} {good[target]}" for target in ported.verdicts.targets)
        left = f"exit code {ported.code}, {ported.state.tasks} tasks"
        print(f"{ported.name}: {units} units, {counts}; {left}", flush=True)
        for item in ported.verdicts.verdicts:
            if item.level == "compile" and item.outcome != "passed" and item.subject:
                print(f"  {item.subject} {item.target}: {item.outcome}: {item.reason[:300]}", flush=True)
    print(", ".join(f"{name} {count}" for name, count in total.items()))
    return int(any(count < total["units"] for count in total.values()))


if __name__ == "__main__":
    sys.exit(main())
