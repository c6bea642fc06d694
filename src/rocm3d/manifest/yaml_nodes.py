"""YAML as nodes with places, for the readers of YAML files.

Nodes are composed, never constructed: no tag is obeyed, no object is made, and an alias stays one node however often it
is named, so a file of nested aliases costs nothing. Walks are bounded for the same reason. Places are counted from the
text by line feeds, because YAML takes more characters for line ends than editors do.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rocm3d.manifest.script import Places
from rocm3d.model.text import encodable

_MAX_CHARACTERS = 300_000
_MAX_NODES = 50_000
_MAX_DEPTH = 60


def _too_deep(text: str) -> bool:
    """Whether brackets or dashes nest deeper than any real file: the parser takes the square of the depth in time."""
    depth = 0
    for bracket in re.finditer(r"[\[{\]}]", text):
        depth += 1 if bracket.group() in "[{" else -1
        if depth > _MAX_DEPTH:
            return True
        depth = max(depth, 0)
    return re.search(rf"(?:[-?:][ \t]+){{{_MAX_DEPTH}}}", text) is not None


@dataclass(frozen=True)
class Scalar:
    """A plain value: its text, its place, its style, and the range of characters it covers in the file."""

    text: str
    line: int
    column: int
    style: str
    start: int
    end: int


@dataclass(frozen=True)
class YamlText:
    """One file; `root` is the composed node, None where it cannot be read (`problem` says why)."""

    text: str

    @cached_property
    def _composed(self) -> tuple[Any, str]:
        if len(self.text) > _MAX_CHARACTERS:
            return None, "is too large to be read as YAML"
        if _too_deep(self.text):
            return None, "nests too deeply to be read as YAML"
        from ruamel.yaml import YAML

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the file's anchors, not ours
                return YAML(typ="safe", pure=True).compose(self.text), ""
        except RecursionError:
            return None, "nests too deeply to be read as YAML"
        except Exception as error:  # noqa: BLE001  (the parser raises whatever its input makes it raise)
            return None, f"is not valid YAML: {' '.join(str(error).split())[:200]}"

    @property
    def root(self) -> Any:
        """The first document's node."""
        return self._composed[0]

    @property
    def problem(self) -> str:
        """Why there is no root; empty where all is well."""
        return self._composed[1]

    @cached_property
    def _places(self) -> Places:
        return Places(self.text)

    def scalar(self, node: Any) -> Scalar | None:
        """A node as a value; None for lists and maps."""
        if not isinstance(getattr(node, "value", None), str):
            return None
        start = node.start_mark.index
        return Scalar(encodable(node.value), *self._places.of(start), node.style or "", start, node.end_mark.index)

    def script(self, value: Scalar) -> tuple[str, int, int]:
        """A value that is a script, as it stands in the file, with the place of its first character."""
        if value.style not in ("|", ">"):
            return value.text, value.line, value.column + (value.style in ("'", '"'))
        _, _, body = self.text[value.start : value.end].partition("\n")
        if value.style == ">":
            # Lines are joined by spaces; a backslash at their end does the same and keeps the places.
            body = "\n".join(f"{line} \\" if line.strip() else line for line in body.split("\n"))
        return body, value.line + 1, 1

    def pairs(self, node: Any) -> list[tuple[Scalar, Any]]:
        """Keys and values of a map; nothing for other nodes."""
        if getattr(node, "id", "") != "mapping":
            return []
        keys = ((self.scalar(key), value) for key, value in node.value)
        return [(key, value) for key, value in keys if key is not None]

    def items(self, node: Any) -> list[Any]:
        """Members of a list; nothing for other nodes."""
        return list(node.value) if getattr(node, "id", "") == "sequence" else []

    def walk(self) -> Iterator[tuple[Scalar, Any]]:
        """Every pair of every map in the file, each node once."""
        stack: list[Any] = [self.root]
        seen: set[int] = set()
        while stack and len(seen) < _MAX_NODES:
            node = stack.pop()
            if node is None or id(node) in seen:
                continue
            seen.add(id(node))
            pairs = self.pairs(node)
            yield from pairs
            stack += [*reversed([value for _, value in pairs]), *reversed(self.items(node))]
