"""The download size of an install: from the index if it has sizes, otherwise from the file servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.model.counted import counted
from rocm3d.verify.resolution.faults import is_cuda_package

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.verify.resolution.resolver import ResolvedPackage
    from rocm3d.workspace.web import WebClient


@dataclass(frozen=True)
class DownloadSize:
    """`packages`: how many. `cuda_packages`: names. `unknown_sizes`: how many packages have no known size."""

    packages: int
    bytes: int
    cuda_packages: tuple[str, ...]
    cuda_bytes: int
    unknown_sizes: int

    def __str__(self) -> str:
        size = f"{counted(self.packages, 'package')}, {_format_bytes(self.bytes)}"
        of_cuda = (
            f"{len(self.cuda_packages)} of CUDA ({_format_bytes(self.cuda_bytes)})"
            if self.cuda_packages
            else "none of CUDA"
        )
        return f"{size}, {of_cuda}" + (f", {self.unknown_sizes} of unknown size" if self.unknown_sizes else "")


def measure_download(packages: tuple[ResolvedPackage, ...], knowledge: Knowledge, web: WebClient) -> DownloadSize:
    """Adds up sizes; downloads nothing."""
    server_sizes = web.sizes(
        item.url for item in packages if item.size is None and item.url.startswith(("http", "file:"))
    )
    sizes = {item.name: item.size if item.size is not None else server_sizes.get(item.url) for item in packages}
    cuda_packages = tuple(item.name for item in packages if is_cuda_package(item.name, knowledge))
    return DownloadSize(
        len(packages),
        sum(size or 0 for size in sizes.values()),
        cuda_packages,
        sum(sizes[name] or 0 for name in cuda_packages),
        sum(size is None for size in sizes.values()),
    )


def _format_bytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"
