"""A resolver that is not asked the same thing twice: several probes look at the same sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from rocm3d.verify.resolution.answer import Request, Resolution, Resolver
    from rocm3d.verify.resolution.index import Indexes


@dataclass(frozen=True)
class Remembered:
    """Answers are kept in `answers`, which lives as long as one verification."""

    resolver: Resolver
    answers: MutableMapping[object, Resolution]

    @property
    def indexes(self) -> Indexes:
        """What it asks."""
        return self.resolver.indexes

    @property
    def label(self) -> str:
        """What verdicts call it."""
        return self.resolver.label

    def resolve(self, request: Request) -> Resolution:
        """The kept answer, or a new one."""
        key = _key(request)
        if key not in self.answers:
            self.answers[key] = self.resolver.resolve(request)
        return self.answers[key]


def _key(request: Request) -> object:
    """By what the files hold, since each session has a folder of its own; the stand-ins there are the same in all."""
    files = (request.requirements, *request.constraints, *request.overrides)
    texts = tuple((path.name, path.read_text(encoding="utf-8")) for path in files)
    links = tuple(link if "://" in link else "" for link in request.links)
    asked = (request.python, request.platform, links, request.index, request.indexes, request.without_dependencies)
    return texts, asked
