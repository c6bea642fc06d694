"""A resolver with a cache: several probes resolve the same requirement sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from rocm3d.verify.resolution.answer import Request, Resolution, Resolver
    from rocm3d.verify.resolution.index import Indexes


@dataclass(frozen=True)
class Remembered:
    """The cache `resolutions` is shared by the probes of one verification."""

    resolver: Resolver
    answers: MutableMapping[object, Resolution]

    @property
    def indexes(self) -> Indexes:
        """The index settings of the wrapped resolver."""
        return self.resolver.indexes

    @property
    def label(self) -> str:
        """Name and version of the wrapped resolver."""
        return self.resolver.label

    def resolve(self, request: Request) -> Resolution:
        """The cached resolution, or a new one."""
        key = _key(request)
        if key not in self.answers:
            self.answers[key] = self.resolver.resolve(request)
        return self.answers[key]


def _key(request: Request) -> object:
    """By file contents, because each session has another folder. Local links are equal in all: the stub wheels."""
    files = (request.requirements, *request.constraints, *request.overrides)
    texts = tuple((path.name, path.read_text(encoding="utf-8")) for path in files)
    links = tuple(link if "://" in link else "" for link in request.links)
    asked = (request.python, request.platform, links, request.index, request.indexes, request.without_dependencies)
    return texts, asked
