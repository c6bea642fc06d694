"""Source trees of commits from bare mirrors, without a checkout and without network."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.model.errors import UserError
from rocm3d.scan.file_scan import is_scanned
from rocm3d.workspace.process import Finished, run

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_FILE_BYTES = 4 * 1024 * 1024
# Text files that a future rule may read, so that a new reader needs no change here.
_EXTRA_SUFFIXES = (
    ".cmake",
    ".inl",
    ".ipp",
    ".tpp",
    ".yml",
    ".yaml",
    ".sh",
    ".cfg",
    ".toml",
    ".txt",
    ".in",
    ".gitmodules",
)


@dataclass(frozen=True)
class Mirror:
    """A bare repository: <mirrors>/<owner>+<name>/repo."""

    folder: Path

    @classmethod
    def of(cls, mirrors: Path, repository: str) -> Mirror:
        """The mirror of owner/name."""
        folder = mirrors / repository.replace("/", "+") / "repo"
        if not folder.is_dir():
            raise UserError(f"{folder} does not exist", hint=f"mirror github.com/{repository} to it, or use --pair")
        return cls(folder)

    def extract(self, commit: str, target: Path, *, every_file: bool = False) -> list[str]:
        """Write the source files of a commit, or all, and return their paths. Missing blobs are skipped."""
        files = [(sha, path) for mode, sha, path in self._blobs(commit) if mode.startswith("100")]
        blobs = [(sha, path) for sha, path in files if every_file or _is_source(path)]
        written = []
        for path, content in self._contents(blobs):
            file = target / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            written.append(path)
        if not written:
            raise UserError(f"{self.folder} has no source file of commit {commit[:12]}", hint="fetch it again")
        return written

    def renamed_files(self, base: str, commit: str) -> dict[str, str]:
        """New names of renamed files, detected by content; empty if the mirror lacks one of the commits."""
        done = self._git("diff", "--name-status", "-M30%", "--diff-filter=R", "-z", base, commit, "--")
        parts = done.decode("utf-8", "replace").split("\0")
        return {old: new for _, old, new in zip(parts[::3], parts[1::3], parts[2::3], strict=False)}

    def _blobs(self, commit: str) -> list[tuple[str, str, str]]:
        lines = self._git("ls-tree", "-r", "-z", commit).decode("utf-8", "replace").split("\0")
        rows = [line.partition("\t") for line in lines if line]
        return [(head.split()[0], head.split()[2], path) for head, _, path in rows]

    def _contents(self, blobs: list[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
        """One git process for all blobs: one per file would take minutes for thousands of files."""
        command = ["git", "-C", str(self.folder), "cat-file", "--batch"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment()) as git:
            assert git.stdin is not None
            assert git.stdout is not None
            for sha, path in blobs:
                git.stdin.write(f"{sha}\n".encode())
                git.stdin.flush()
                *_, last = git.stdout.readline().split()
                if last == b"missing":
                    continue
                content = git.stdout.read(int(last) + 1)[:-1]
                if len(content) <= MAX_FILE_BYTES:
                    yield path, content
            git.stdin.close()

    def _git(self, *arguments: str) -> bytes:
        done = self._run(*arguments)
        return done.stdout if done.code == 0 else b""

    def _run(self, *arguments: str) -> Finished:
        return run(["git", "-C", str(self.folder), *arguments], env=_environment(), keep_bytes=MAX_FILE_BYTES)


def _environment() -> dict[str, str]:
    return {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}


def _is_source(path: str) -> bool:
    return is_scanned(path) or path.lower().endswith(_EXTRA_SUFFIXES)
