"""Undo benchmark: `undo` = identity and apply twice = once on packages from PyPI, with kills in between.

    python benchmarks/undo.py [--only NAME] [--seed N] [--kills N] [--resume] [--list FILE] [--folder DIR]

The source archives of undo.toml are downloaded by exact file and digest, as in ecosystem.py, and unpacked; nothing of
them is built, imported or run. For each package:

    apply, apply again: the same tree; undo: every byte and mode as before;
    `--kills` times: apply killed before a random change, undo; apply, undo killed before a random change, undo.

A broken package is shown with the first difference and exits 1; one that could not be fetched is listed and exits 4.
The result is in build/undo/result.json. Linux only.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import ecosystem
from rich.progress import track

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "scripts"))
from attacks.commands import Commands, Ended, load_program  # noqa: E402  (a folder of scripts is no package)
from attacks.snapshots import Snapshot, difference, snapshot  # noqa: E402

HERE = Path(__file__).resolve().parent
FOLDER = ROOT / "build" / "undo"
APPLY = ("--gpu", "gfx942", "--quiet")
SECONDS = 900.0


class BrokenPromiseError(Exception):
    """A promise that did not hold."""


@dataclass(frozen=True)
class Result:
    """One package: files of its tree, files that apply edited and added, kills, and what broke."""

    name: str
    version: str
    files: int = 0
    edited: int = 0
    added: int = 0
    kills: int = 0
    seconds: float = 0.0
    refused: str = ""  # apply exits 2: the tree stays as it is
    broken: str = ""
    unavailable: str = ""


class Subject:
    """An unpacked package and the commands on it."""

    def __init__(self, root: Path, scratch: Path, seed: str) -> None:
        self.root, self.random = root, random.Random(seed)  # noqa: S311  (a repeatable choice, no secret)
        home = scratch / "home"
        home.mkdir()
        folders = {"HOME": home, "ROCM3D_CACHE": home / "cache", "ROCM3D_DATA": home / "data"}
        environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **{key: str(path) for key, path in folders.items()}}
        self.commands = Commands(scratch / "commands", environment)
        self.before: Snapshot = snapshot(root)
        self.kills = 0

    def run(self, *words: str, kill_before: int | None = None) -> Ended:
        options = {"kill_before": kill_before, "watched": (self.root,)}
        ended = self.commands.run(words[0], self.root, *words[1:], seconds=SECONDS, **options)
        if not (kill_before is not None and ended.is_killed) and (problem := ended.problem()):
            raise BrokenPromiseError(problem)
        return ended

    def restore(self, after: str) -> None:
        """Undo, which must give the tree before; it may say that there is nothing to undo."""
        ended = self.run("undo")
        if ended.code == 2 and "nothing to undo" not in ended.err:
            raise BrokenPromiseError(f"undo after {after}: {ended.err.strip()}")
        self.expect(self.before, f"undo after {after}")

    def expect(self, tree: Snapshot, step: str) -> None:
        if problem := difference(tree, snapshot(self.root)):
            raise BrokenPromiseError(f"{step}: {problem}")


def check(subject: Subject, kills: int) -> dict[str, Any]:
    """Run all steps on one package. Raises BrokenPromiseError."""
    first = subject.run("apply", *APPLY)
    if first.code == 2:
        subject.expect(subject.before, "apply that was refused")
        return {"refused": first.err.strip().splitlines()[0]}
    after = snapshot(subject.root)
    counts = {
        "edited": sum(after.get(path) != entry for path, entry in subject.before.items()),
        "added": len(after.keys() - subject.before.keys()),
    }
    subject.run("apply", *APPLY)
    subject.expect(after, "the second apply")
    undone = subject.run("undo")
    subject.expect(subject.before, "undo")
    for _ in range(kills if first.changes and undone.changes else 0):
        limit = subject.random.randrange(first.changes or 1)
        subject.kills += subject.run("apply", *APPLY, kill_before=limit).is_killed
        subject.restore(f"a kill of apply before change {limit}")
        subject.run("apply", *APPLY)
        subject.expect(after, "apply after a kill and undo")
        limit = subject.random.randrange(undone.changes or 1)
        subject.kills += subject.run("undo", kill_before=limit).is_killed
        subject.restore(f"a kill of undo before change {limit}")
    return counts


def measure(archive: ecosystem.Archive, finder: Any, folder: Path, *, seed: int, kills: int) -> Result:
    """The result for one archive."""
    started, subject, facts = time.monotonic(), None, {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        try:
            file = folder / archive.file
            file = file if is_same(file, archive) else ecosystem.fetch(archive, finder, folder)
            root = ecosystem.unpack(file, Path(scratch) / "tree")
            subject = Subject(root, Path(scratch), f"{seed}-{archive.name}")
            facts = check(subject, kills)
        except (ecosystem.ArchiveUnavailableError, ecosystem.ArchiveRefusedError) as reason:
            facts = {"unavailable": str(reason)}
        except BrokenPromiseError as reason:
            facts = {"broken": str(reason)}
            keep(Path(scratch), archive.name)
    if subject is not None:
        facts |= {"files": len(subject.before), "kills": subject.kills}
    return Result(archive.name, archive.version, seconds=round(time.monotonic() - started, 1), **facts)


def is_same(file: Path, archive: ecosystem.Archive) -> bool:
    """Whether this archive was downloaded before."""
    import hashlib

    return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == archive.sha256


def keep(scratch: Path, name: str) -> None:
    """Store the tree and the outputs of a broken package."""
    target = FOLDER / "broken" / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(scratch, target, symlinks=True)


def summary(results: list[Result]) -> str:
    """The line for docs/benchmarks.md."""
    done = [item for item in results if not item.unavailable]
    return (
        f"{len(done)} packages, {sum(item.files for item in done)} files; apply edits files in "
        f"{sum(item.edited > 0 for item in done)} and adds files in {sum(item.added > 0 for item in done)}, refused "
        f"{sum(bool(item.refused) for item in done)}; {sum(item.kills for item in done)} kills; broken: "
        f"{sum(bool(item.broken) for item in done)}; not fetched: {len(results) - len(done)}"
    )


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="only this package; repeatable")
    parser.add_argument("--seed", type=int, default=24)
    parser.add_argument("--kills", type=int, default=1, help="kills of apply and of undo, for each package")
    parser.add_argument("--resume", action="store_true", help="omit packages that the stored result has")
    parser.add_argument("--list", type=Path, default=HERE / "undo.toml")
    parser.add_argument("--folder", type=Path, default=FOLDER / "archives")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    store = FOLDER / "result.json"
    stored = json.loads(store.read_text(encoding="utf-8")) if options.resume and store.is_file() else []
    results = [Result(**item) for item in stored]
    known = {item.name for item in results}
    archives = [
        item
        for item in ecosystem.load(options.list)
        if item.name not in known and (not options.only or item.name in options.only)
    ]
    load_program()
    with ecosystem.index_client(ecosystem.pip_index_url()) as finder:
        for archive in track(archives, "packages", disable=not sys.stderr.isatty()):
            results.append(measure(archive, finder, options.folder, seed=options.seed, kills=options.kills))
            print(json.dumps(asdict(results[-1])), flush=True)
            store.write_text(json.dumps([asdict(item) for item in results], indent=1) + "\n", encoding="utf-8")
    print(summary(results))
    if any(item.broken for item in results):
        sys.exit(1)
    sys.exit(4 if any(item.unavailable for item in results) else 0)


if __name__ == "__main__":
    main()
