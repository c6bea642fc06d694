"""Files of a machine below a root folder, so that a test, or a chroot, is read as the real one is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_LONGEST = 1 << 20


@dataclass(frozen=True)
class Files:
    """Whatever goes wrong with a file, the answer is that it says nothing. Names are relative to the root."""

    root: Path = Path("/")

    def path(self, name: str | Path) -> Path:
        """Where it lies."""
        return self.root / str(name).lstrip("/")

    def text(self, name: str | Path) -> str:
        """What is in it, without the last newline; at most a megabyte."""
        try:
            with self.path(name).open(encoding="utf-8", errors="replace") as file:
                return file.read(_LONGEST).rstrip("\n\0")
        except (OSError, ValueError):
            return ""

    def number(self, name: str | Path) -> int:
        """A whole number at its beginning, 0 where there is none."""
        words = self.text(name).split()
        return int(words[0]) if words and words[0].isascii() and words[0].isdecimal() and len(words[0]) < 19 else 0

    def there(self, name: str | Path) -> bool:
        """Whether it is there; what may not be asked about is not."""
        try:
            return self.path(name).exists()
        except OSError:
            return False

    def readable(self, name: str | Path) -> bool:
        """Whether something can be read of it: the kernel may let a file be opened and refuse to tell what is in it."""
        try:
            with self.path(name).open("rb", buffering=0) as file:
                file.read(1)
        except OSError:
            return False
        return True

    def match(self, folder: str, pattern: str) -> list[str]:
        """Names in a folder, in order."""
        try:
            return sorted(item.name for item in self.path(folder).glob(pattern))
        except OSError:
            return []

    def leads_to(self, name: str | Path) -> Path | None:
        """Where a link, or a path with links in it, ends."""
        try:
            return self.path(name).resolve(strict=True)
        except (OSError, RuntimeError):
            return None
