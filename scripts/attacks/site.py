"""The place of a hostile tree: the repository, what lies around it, and the traps that show what ran or leaked."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

# In names and texts of the repository; may be shown, but never as markup or as a command.
INJECTED = "attackmark"


@dataclass
class Site:
    """A repository and its surroundings. `forged` is .rocm3d of the same repository, as ported on another machine."""

    tree: Path
    forged: Path
    ported: Path  # that port's rocm-port
    random: random.Random
    required_in_scan: list[str] = field(default_factory=list)

    @property
    def world(self) -> Path:
        return self.tree.parent

    @property
    def outside(self) -> Path:
        """Files of somebody else, which nothing may read or change."""
        return self.world / "outside"

    @property
    def marks(self) -> Path:
        """Whatever runs leaves a file here."""
        return self.world / "ran"

    @property
    def secret(self) -> str:
        """The text of every file outside."""
        return f"outside-secret-{self.world.parent.name}-7f3a"

    def build(self) -> None:
        """Create the surroundings."""
        self.marks.mkdir()
        (self.outside / "folder" / "csrc").mkdir(parents=True)
        for name in ("notes.txt", "secret.json", "folder/setup.py", "folder/requirements.txt"):
            (self.outside / name).write_text(f"{self.secret}\n", encoding="utf-8")
        code = f"#include <cooperative_groups.h>\n#include <device_launch_parameters.h>\n// {self.secret}\n"
        (self.outside / "folder" / "csrc" / "kernel.cu").write_text(code, encoding="utf-8")
        (self.outside / "module.py").write_text(f"import pynvml  # {self.secret}\n", encoding="utf-8")
        (self.outside / "folder" / "mode.sh").write_text("#!/bin/sh\n", encoding="utf-8")
        (self.outside / "folder" / "mode.sh").chmod(0o750)

    def write(self, path: str, content: str | bytes = b"", *, executable: bool = False) -> Path:
        """Write a file of the repository; what is there is replaced, also a link."""
        target = self.clear(path)
        target.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
        if executable:
            target.chmod(0o755)
        return target

    def link(self, path: str, target: object) -> None:
        """A symbolic link in the repository."""
        self.clear(path).symlink_to(str(target))

    def clear(self, path: str) -> Path:
        """Make room for a path of the repository."""
        target = self.tree / path
        with contextlib.suppress(FileExistsError, NotADirectoryError):
            target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        elif target.is_symlink() or target.exists():
            target.unlink()
        return target

    def shell(self, name: str) -> str:
        """A shell command that leaves a mark."""
        return f"touch {self.marks / name}"

    def program(self, name: str, path: str = "") -> Path:
        """A program in the repository that leaves a mark, and is a filter."""
        target = path or f".evil/{name}"
        return self.write(target, f"#!/bin/sh\n{self.shell(name)}\nexec cat\n", executable=True)

    def python(self, name: str) -> str:
        """Python code that leaves a mark."""
        return f"open({str(self.marks / name)!r}, 'w').close()\n"

    def age(self) -> None:
        """Change all times, so that git reads the files again."""
        for folder, _, files in os.walk(self.tree):
            for name in files:
                path = Path(folder, name)
                if ".git" not in path.parts and stat.S_ISREG(path.lstat().st_mode):
                    os.utime(path, (1_700_000_000, 1_700_000_000))


Shape = Callable[[Site], None]
