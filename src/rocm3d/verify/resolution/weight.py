"""The download size of an install: from the index if it has sizes, otherwise from the file servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.verify.resolution.judge import is_foreign

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.verify.resolution.answer import Resolved
    from rocm3d.workspace.web import WebClient


@dataclass(frozen=True)
class Weight:
    """`packages`: how many. `cuda_packages`: names. `unknown_sizes`: how many packages have no known size."""

    packages: int
    bytes: int
    foreign: tuple[str, ...]
    foreign_bytes: int
    unknown: int

    def __str__(self) -> str:
        size = f"{self.packages} package{'' if self.packages == 1 else 's'}, {_shown(self.bytes)}"
        of_cuda = f"{len(self.foreign)} of CUDA ({_shown(self.foreign_bytes)})" if self.foreign else "none of CUDA"
        return f"{size}, {of_cuda}" + (f", {self.unknown} of unknown size" if self.unknown else "")


def weigh(packages: tuple[Resolved, ...], knowledge: Knowledge, web: WebClient) -> Weight:
    """Adds up sizes; downloads nothing."""
    asked = web.sizes(item.url for item in packages if item.size is None and item.url.startswith(("http", "file:")))
    sizes = {item.name: item.size if item.size is not None else asked.get(item.url) for item in packages}
    foreign = tuple(item.name for item in packages if is_foreign(item.name, knowledge))
    return Weight(
        len(packages),
        sum(size or 0 for size in sizes.values()),
        foreign,
        sum(sizes[name] or 0 for name in foreign),
        sum(size is None for size in sizes.values()),
    )


def _shown(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"
