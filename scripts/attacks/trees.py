"""Hostile repositories, through every command that reads or changes a tree."""

from __future__ import annotations

import contextlib
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from attacks import shapes
from attacks.cases import GPU, BrokenPromiseError, Case, commit_all, copy_example, require
from attacks.commands import TRACEBACK, Ended
from attacks.mcp_client import connect
from attacks.site import INJECTED, Shape, Site
from attacks.snapshots import Snapshot, difference, snapshot

NAME = "trees"
COUNT = 200
PROMISE = "nothing of a hostile tree runs, nothing outside it is read or changed, and every command ends in time"

EXAMPLES = ("splat-trainer", "deform-op", "jit-extension", "cmake-lib")
SECONDS = 60.0
# Bytes that a terminal would obey: escapes, and marks that change the direction of text.
UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Shared:
    """All shapes, and for each example the state and the port that another machine made of it."""

    shapes: list[Shape]
    forged: dict[str, tuple[Path, Path]]


def prepare(folder: Path) -> Shared:
    """Port every example as the attacker would, on a machine with keys of its own."""
    forged = {}
    for example in EXAMPLES:
        case = Case(0, folder / example, NAME)
        copy_example(example, case.tree)
        case.run("port", case.tree, *GPU)
        case.commands.cwd = case.tree
        case.run("run", "--name", "recorded", "--", sys.executable, "-c", "print(1)")
        forged[example] = case.tree / ".rocm3d", case.tree / "rocm-port"
    return Shared(all_shapes(), forged)


def all_shapes() -> list[Shape]:
    """The shapes of every module of `shapes`."""
    modules = (importlib.import_module(item.name) for item in pkgutil.iter_modules(shapes.__path__, "attacks.shapes."))
    return [shape for module in modules for shape in module.SHAPES]


def total(shared: Shared, count: int) -> int:  # noqa: ARG001  (every attack has this signature)
    """As requested."""
    return count


def run(case: Case, shared: Shared) -> None:
    """One tree with one to three shapes, through all commands."""
    example = case.random.choice(EXAMPLES)
    chosen = [shared.shapes[case.number % len(shared.shapes)]]
    chosen += case.random.sample(shared.shapes, case.random.choice((0, 0, 1, 2)))
    case.label = f"{', '.join(dict.fromkeys(shape.__name__ for shape in chosen))} in {example}"
    copy_example(example, case.tree)
    site = Site(case.tree, *shared.forged[example], case.random)
    site.build()
    _add_shapes(site, chosen)
    Watched(case, site).attack()


def _add_shapes(site: Site, chosen: list[Shape]) -> None:
    """The first as it is; others as far as they fit to it. What is not in .git is committed, where git can."""
    chosen[0](site)
    for shape in chosen[1:]:
        with contextlib.suppress(OSError, subprocess.SubprocessError, ValueError, KeyError):
            shape(site)
    settled = any(shape.__module__.endswith("git_settings") or "huge" in shape.__name__ for shape in chosen)
    if site.random.random() < 0.7 and not settled:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            commit_all(site.tree)


class Watched:
    """A hostile tree and its surroundings as they were."""

    def __init__(self, case: Case, site: Site) -> None:
        self.case, self.site = case, site
        case.commands.cwd = site.tree if case.random.random() < 0.5 else site.world
        self.home = case.folder / "user"
        (self.home / ".gitconfig").write_text("[user]\n\tname = a\n\temail = a@b\n", encoding="utf-8")
        (self.home / ".bashrc").write_text("# mine\n", encoding="utf-8")
        self.before = snapshot(site.tree)
        self.around = self._around()

    def attack(self) -> None:
        """All commands, in the order of a port, and undo at the end."""
        case, tree = self.case, self.site.tree
        scan = self.step("scan", tree)
        for text in self.site.required_in_scan if scan.code in (0, 1) else ():
            if (tree / text).is_file() and text not in scan.out + scan.err:
                raise BrokenPromiseError(f"scan does not mention {text}, which silences its findings")
        self.step("plan", tree, *GPU, *case.random.choice(((), ("--keep-torch",))), codes=(0, 1, 2, 4))
        options = (*case.random.choice(((), GPU)), *case.random.choice(((), ("--safe-only",))), "--allow-dirty")
        self.step("apply", tree, *options)
        self._check_install()
        self.step("verify", tree, codes=(0, 1, 2, 4))
        self.step("report", tree)
        self.step("undo", tree)
        self.step("port", tree, *GPU, *case.random.choice(((), ("--safe-only",))), "--allow-dirty")
        self.step("upstream", tree, codes=(0, 1, 2, 4))
        self._check_install()
        self.step("undo", tree)
        if case.number % 5 == 0:
            self._use_agent()
        self._expect_before()

    def step(self, name: str, *arguments: object, codes: tuple[int, ...] = (0, 1, 2)) -> Ended:
        """One command and all that holds after it."""
        ended = self.case.commands.run(name, *arguments, seconds=SECONDS)
        require(ended.problem(codes))
        if match := UNSAFE.search(ended.out + ended.err):
            raise BrokenPromiseError(f"{name}: the output has {match[0]!r}")
        self._check(name, ended.out + ended.err)
        return ended

    def _check(self, name: str, output: str) -> None:
        if ran := sorted(path.name for path in self.site.marks.iterdir()):
            raise BrokenPromiseError(f"{name}: ran {', '.join(ran)}")
        if problem := difference(self.around, self._around()):
            raise BrokenPromiseError(f"{name}: outside the tree: {problem}")
        if self.site.secret in output:
            raise BrokenPromiseError(f"{name}: the output has the content of a file outside the tree")
        for path in _written(self.site.tree):
            self._check_written(name, path)

    def _check_written(self, name: str, path: Path) -> None:
        text = path.read_text(encoding="utf-8", errors="replace")
        relative = path.relative_to(self.site.tree).as_posix()
        if self.site.secret in text and relative not in self.before:
            raise BrokenPromiseError(f"{name}: {relative} has the content of a file outside the tree")
        if path.suffix == ".html":
            page = _Page()
            page.feed(text)
            require(f"{name}: {relative} has {page.problem}" if page.problem else "")

    def _check_install(self) -> None:
        """The script of the port, as a dry run: no text of the repository is a command in it."""
        script = self.site.tree / "rocm-port" / "install.sh"
        if not _is_plain(script, self.site.tree) or "rocm-port/install.sh" in self.before:
            return
        if f"{INJECTED}-package" in script.read_text(encoding="utf-8", errors="replace"):
            raise BrokenPromiseError("apply: install.sh has a command of a document that came with the repository")
        environment = {**self.case.commands.environment, "PYTHON": sys.executable}
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                ["/bin/bash", str(script), "--dry-run"], env=environment, cwd=self.site.world, capture_output=True,
                timeout=SECONDS, check=False, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        self._check("install.sh --dry-run", "")

    def _use_agent(self) -> None:
        """Plan, apply, verify and undo by an agent."""
        log, path = self.case.folder / "mcp.err", str(self.site.tree)
        with connect(self.site.world, self.case.commands.environment, log) as client:
            answers = [client.call("scan", path=path)]
            answers.append(client.call("plan", path=path, gpu="gfx942"))
            match = re.search(r'"plan_hash": ?"([0-9a-f]{64})"', json.dumps(answers[-1]).replace('\\"', '"'))
            plan_hash = match[1] if match else "0" * 64
            answers.append(client.call("apply", path=path, plan_hash=plan_hash, yes=True))
            answers.append(client.call("verify", path=path))
            answers.append(client.call("undo", path=path))
            answers.append(client.call("undo", path=str(self.home)))
        text = "\n".join(json.dumps(answer, ensure_ascii=False) for answer in answers)
        if TRACEBACK in text or TRACEBACK in log.read_text("utf-8", "replace"):
            raise BrokenPromiseError(f"mcp: a traceback, see {log}")
        self._check("mcp", text)

    def _expect_before(self) -> None:
        """All edits are undone; what a refused command left alone is as it was."""
        if problem := difference(self.before, snapshot(self.site.tree)):
            raise BrokenPromiseError(f"after all commands and undo: {problem}")

    def _around(self) -> Snapshot:
        """Everything of somebody else: the folder around the tree and the user's home, without our own folders."""
        entries = {f"world/{name}": item for name, item in _without(self.site.world, ("tree", "ran")).items()}
        entries |= {f"home/{name}": item for name, item in _without(self.home, ("cache", "data")).items()}
        return entries


def _without(folder: Path, names: tuple[str, ...]) -> Snapshot:
    """A snapshot without some folders at its top."""
    entries: Snapshot = {}
    for path in sorted(folder.iterdir()):
        if path.name in names:
            continue
        if path.is_dir() and not path.is_symlink():
            entries |= {f"{path.name}/{name}": item for name, item in snapshot(path, with_state=True).items()}
            entries[path.name] = path.lstat().st_mode, b""
        else:
            entries[path.name] = path.lstat().st_mode, path.read_bytes()
    return entries


def _walk(tree: Path) -> list[Path]:
    with contextlib.suppress(OSError, RecursionError):
        return [path for path in tree.rglob("*") if path.is_file() and not path.is_symlink()]
    return []


def _written(tree: Path) -> list[Path]:
    """Files that rocm3d writes: its documents and its port, where they are real files in the tree."""
    folders = [tree / name for name in (".rocm3d", "rocm-port")]
    inside = [path for folder in folders if folder.is_dir() and not folder.is_symlink() for path in _walk(folder)]
    return [path for path in inside if _is_plain(path, tree) and path.stat().st_size < 1 << 26]


def _is_plain(path: Path, tree: Path) -> bool:
    """A regular file that no link leads to."""
    parts = [path, *(parent for parent in path.parents if parent.is_relative_to(tree) and parent != tree)]
    return path.is_file() and not any(part.is_symlink() for part in parts)


class _Page(HTMLParser):
    """Looks for the repository's text where a browser would run it."""

    def __init__(self) -> None:
        super().__init__()
        self.problem, self.in_script = "", False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.in_script = tag == "script"
        for name, value in attrs:
            text = (value or "").lower()
            if INJECTED in text and (name.startswith("on") or text.strip().startswith("javascript:")):
                self.problem = f"an attribute {name} with text of the repository"

    def handle_endtag(self, tag: str) -> None:
        self.in_script = self.in_script and tag != "script"

    def handle_data(self, data: str) -> None:
        if self.in_script and f"{INJECTED}()" in data:
            self.problem = "a script with text of the repository"
