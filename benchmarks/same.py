"""Compares two checkouts of rocm3d: whether scan, plan, apply and undo give the same output for the same inputs.

    python benchmarks/same.py BEFORE AFTER --mirrors DIR [--only NAME] [--gpu GPU]
    python benchmarks/same.py BEFORE AFTER --examples-only

Inputs are the folders of examples/ and the repositories of same.toml, from bare mirrors. Each checkout runs its own
sources and records: scan, then for each GPU plan, apply into a copy (for the others of them with --safe-only) and undo.

Edited files, the tree after undo and the originals that undo restores must be equal in every byte; documents in
everything except texts and the rewrite that makes the edit of a fix; files of rocm-port/ in everything except prose
and comments.

Exit 0: no difference; 1: differences, each printed with its position; 2: wrong usage; 4: no difference, but an input
could not be compared.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

from mirrors import Mirror
from same_output import changed_paths, workspace_differences

from rocm3d.knowledge.load import load, tomllib
from rocm3d.model.errors import ExitCode, Rocm3dError, UserError
from rocm3d.workspace.process import run
from rocm3d.workspace.state import STATE_FOLDER as STATE

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIG = Path(__file__).with_suffix(".toml")
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SECONDS = 3600.0  # for one command
LARGEST_DOCUMENT = 1 << 30


class CommandError(Exception):
    """A command of rocm3d that ended without a document."""


@dataclass(frozen=True)
class Checkout:
    """Sources and records of rocm3d, how to run them, and the folder of their cache."""

    root: Path
    python: str
    program: str
    state: Path

    @classmethod
    def at(cls, folder: Path, state: Path) -> Checkout:
        """A checkout runs with its own .venv if it has one, else with the interpreter of this program."""
        root = folder.resolve()
        try:
            scripts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
            module, _, function = scripts["rocm3d"].partition(":")
        except (OSError, ValueError, KeyError) as error:
            raise UserError(f"{folder} is not a checkout of rocm3d: {error}") from error
        own = root / ".venv" / "bin" / "python"
        python = str(own) if own.is_file() else sys.executable
        checkout = cls(root, python, f"from {module} import {function}; {function}()", state)
        # An installed rocm3d must not run instead of the checkout.
        imported = run([python, "-c", "import rocm3d; print(rocm3d.__file__)"], env=checkout.environment).stdout
        if not Path(os.fsdecode(imported).strip()).is_relative_to(root / "src"):
            raise UserError(f"{python} does not import rocm3d from {root / 'src'}")
        return checkout

    @property
    def environment(self) -> dict[str, str]:
        """PYTHONPATH precedes installed packages, and rocm3d finds its records relative to its sources."""
        own = {"ROCM3D_CACHE": str(self.state / "cache"), "ROCM3D_DATA": str(self.state / "data")}
        return {**os.environ, "PYTHONPATH": str(self.root / "src"), **own}

    def run(self, workspace: Path, document: str, *words: str) -> None:
        """One command. Its output and exit code become documents of the workspace."""
        command = [self.python, "-c", self.program, *words, "--quiet"]
        ended = run(command, cwd=workspace, env=self.environment, seconds=SECONDS, keep_bytes=LARGEST_DOCUMENT)
        (workspace / "documents" / document).write_bytes(ended.stdout)
        (workspace / "documents" / f"{document}.exit").write_text(f"{ended.code}\n", encoding="utf-8")
        if ended.code not in (ExitCode.DONE, ExitCode.FINDINGS):
            last = ended.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise CommandError(f"rocm3d {' '.join(words)}: exit {ended.code}: {last}")


@dataclass(frozen=True)
class Input:
    """A folder of examples/, or owner/name at a commit."""

    name: str
    commit: str = ""

    @property
    def folder(self) -> str:
        """The name without its owner."""
        return self.name.rpartition("/")[2]

    def extract(self, mirrors: Path | None, target: Path) -> None:
        """Write it to a new folder."""
        if self.commit:
            assert mirrors is not None
            Mirror.of(mirrors, self.name).extract(self.commit, target)
        else:
            shutil.copytree(EXAMPLES / self.name, target, ignore=shutil.ignore_patterns(STATE, "__pycache__"))


@dataclass(frozen=True)
class Result:
    """The comparison of one input; `obstacle` is the reason if there is none."""

    name: str
    differences: tuple[str, ...] = ()
    obstacle: str = ""


def run_commands(checkout: Checkout, source: Path, workspace: Path, gpus: Sequence[str]) -> None:
    """Creates in the workspace: documents/, and the trees source/NAME, ported-GPU/NAME and undone-GPU/NAME."""
    name = source.name
    shutil.copytree(source, workspace / "source" / name)
    (workspace / "documents").mkdir()
    checkout.run(workspace, "scan.json", "scan", f"source/{name}", "--format", "json")
    checkout.run(workspace, "scan.sarif", "scan", f"source/{name}", "--format", "sarif")
    for gpu in gpus:
        label = re.sub(r"[^a-z0-9]+", "-", gpu.lower())
        ported, undone = f"ported-{label}/{name}", f"undone-{label}/{name}"
        checkout.run(workspace, f"plan-{label}.json", "plan", f"source/{name}", "--gpu", gpu, "--format", "json")
        options = ["--into", ported, "--format", "json", *([] if gpu == gpus[0] else ["--safe-only"])]
        checkout.run(workspace, f"patch-{label}.json", "apply", f"source/{name}", *options)
        shutil.copytree(workspace / ported, workspace / undone)
        checkout.run(workspace, f"undo-{label}.txt", "undo", undone)


def compare(item: Input, sides: Sequence[Checkout], mirrors: Path | None, gpus: Sequence[str], scratch: Path) -> Result:
    """Both sides work in a folder of the same path, one after the other, so that no path differs."""
    source, workspace = scratch / "input" / item.folder, scratch / "workspace"
    try:
        item.extract(mirrors, source)
    except UserError as error:
        return Result(item.name, obstacle=error.message)
    outputs, errors, differences = [scratch / "before", scratch / "after"], [], []
    for checkout, output in zip(sides, outputs, strict=True):
        workspace.mkdir()
        try:
            run_commands(checkout, source, workspace, gpus)
        except CommandError as error:
            errors.append(str(error))
        else:
            trees = (*workspace.glob("source/*"), *workspace.glob("undone-*/*"))
            changed = ((tree.parent.name, changed_paths(source, tree)) for tree in trees)
            differences += [f"{output.name}: {name} differs from input: {paths}" for name, paths in changed if paths]
        workspace.rename(output)
    differences += workspace_differences(*outputs)
    if errors and not differences:
        return Result(item.name, obstacle=f"both checkouts fail: {errors[0]}")
    return Result(item.name, (*errors, *differences))


def select_inputs(options: argparse.Namespace, repositories: Sequence[str]) -> list[Input]:
    """Examples and repositories that the options select."""
    inputs = [Input(path.name) for path in sorted(EXAMPLES.iterdir()) if path.is_dir()]
    if not options.examples_only:
        inputs += [Input(*name.split("@")) for name in repositories]
    for name in options.only:
        if not any(name in (item.name, item.folder) for item in inputs):
            raise UserError(f"--only {name}: neither an example nor a repository of {CONFIG.name}")
    inputs = [item for item in inputs if not options.only or {item.name, item.folder} & set(options.only)]
    if options.mirrors is None and any(item.commit for item in inputs):
        raise UserError("repositories need --mirrors DIR; --examples-only compares without them")
    if options.mirrors is not None and not options.mirrors.is_dir():
        raise UserError(f"--mirrors {options.mirrors} is not a folder")
    return inputs


def compare_all(options: argparse.Namespace, scratch: Path) -> int:
    """Print differences as they come, then the summary."""
    config = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    inputs, gpus, knowledge = select_inputs(options, config["repositories"]), options.gpu or config["gpus"], load()
    for gpu in gpus:
        knowledge.gpu(gpu)
    sides = [Checkout.at(options.before, scratch / "state-before"), Checkout.at(options.after, scratch / "state-after")]
    results, started = [], time.monotonic()
    for number, item in enumerate(inputs, start=1):
        began = time.monotonic()
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            result = compare(item, sides, options.mirrors, gpus, Path(folder))
        state = "not compared" if result.obstacle else f"{len(result.differences)} differences"
        line = f"[{number}/{len(inputs)}] {item.name}: {state}, {time.monotonic() - began:.1f} s"
        print(line, file=sys.stderr, flush=True)
        for text in result.differences:
            print(f"{item.name}: {text}", flush=True)
        results.append(result)
    return summarise(results, time.monotonic() - started)


def summarise(results: Sequence[Result], seconds: float) -> int:
    """Print the summary and return the exit code."""
    missing = [result for result in results if result.obstacle]
    differing = [result for result in results if result.differences]
    for result in missing:
        print(f"not compared: {result.name}: {result.obstacle}")
    compared = f"{len(results) - len(missing)} of {len(results)} inputs compared"
    print(f"{compared}, {len(differing)} with differences; {seconds:.0f} s")
    return ExitCode.FINDINGS if differing else (ExitCode.MACHINE if missing else ExitCode.DONE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout of rocm3d")
    parser.add_argument("after", type=Path, help="the checkout to compare it with")
    parser.add_argument("--mirrors", type=Path, help="bare mirrors, OWNER+NAME/repo each")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="an example or a repository")
    parser.add_argument("--examples-only", action="store_true", help="no repositories")
    parser.add_argument("--gpu", action="append", default=[], help="instead of the GPUs of same.toml; may be repeated")
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="rocm3d-same-") as scratch:
            return compare_all(options, Path(scratch).resolve())
    except Rocm3dError as error:
        print(f"{error.message}{f': {error.hint}' if error.hint else ''}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
