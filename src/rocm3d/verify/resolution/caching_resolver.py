"""A resolver with a cache: several probes resolve the same requirement sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from rocm3d.verify.resolution.index import IndexSettings
    from rocm3d.verify.resolution.resolver import Resolution, Resolver, ResolveRequest


@dataclass(frozen=True)
class CachingResolver:
    """The cache `resolutions` is shared by the probes of one verification."""

    resolver: Resolver
    resolutions: MutableMapping[object, Resolution]

    @property
    def indexes(self) -> IndexSettings:
        """The index settings of the wrapped resolver."""
        return self.resolver.indexes

    @property
    def label(self) -> str:
        """Name and version of the wrapped resolver."""
        return self.resolver.label

    def resolve(self, request: ResolveRequest) -> Resolution:
        """The cached resolution, or a new one."""
        key = _key(request)
        if key not in self.resolutions:
            self.resolutions[key] = self.resolver.resolve(request)
        return self.resolutions[key]


def _key(request: ResolveRequest) -> object:
    """By file contents, because each session has another folder. Local links are equal in all: the stub wheels."""
    files = (request.requirements, *request.constraints, *request.overrides)
    texts = tuple((path.name, path.read_text(encoding="utf-8")) for path in files)
    links = tuple(link if "://" in link else "" for link in request.links)
    options = (request.python, request.platform, links, request.index, request.indexes, request.without_dependencies)
    return texts, options
