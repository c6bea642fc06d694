"""YAML nodes with positions, for the readers of YAML files.

Nodes are composed, never constructed: tags create no objects, and an alias is one shared node, so nested aliases do not
expand. Walks are limited for the same reason. Positions count line feeds only, because YAML accepts more line ends than
editors do.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rocm3d.manifest.manifest import UnreadableManifestError
from rocm3d.manifest.script import LineIndex
from rocm3d.model.text import replace_surrogates

_MAX_CHARACTERS = 300_000
_MAX_NODES = 50_000
_MAX_DEPTH = 60


def _is_too_deep(text: str) -> bool:
    """Whether brackets or dashes nest deeper than in any real file; the parser is quadratic in the depth."""
    depth = 0
    for bracket in re.finditer(r"[\[{\]}]", text):
        depth += 1 if bracket.group() in "[{" else -1
        if depth > _MAX_DEPTH:
            return True
        depth = max(depth, 0)
    return re.search(rf"(?:[-?:][ \t]+){{{_MAX_DEPTH}}}", text) is not None


@dataclass(frozen=True)
class YamlScalar:
    """A scalar value with its position, quoting style, and character range in the file."""

    text: str
    line: int
    column: int
    style: str
    start: int
    end: int

    @property
    def text_column(self) -> int:
        """The column of the first character of its text, after a quotation mark."""
        return self.column + (self.style in ("'", '"'))


@dataclass(frozen=True)
class YamlText:
    """One file."""

    text: str

    @cached_property
    def root(self) -> Any:
        """The composed node, or UnreadableManifestError."""
        if len(self.text) > _MAX_CHARACTERS:
            raise UnreadableManifestError("is too large to be read as YAML")
        if _is_too_deep(self.text):
            raise UnreadableManifestError("nests too deeply to be read as YAML")
        from ruamel.yaml import YAML

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # warnings about the anchors of the scanned file are not ours to report
                return YAML(typ="safe", pure=True).compose(self.text)
        except RecursionError as error:
            raise UnreadableManifestError("nests too deeply to be read as YAML") from error
        except Exception as error:  # the parser raises whatever its input makes it raise
            raise UnreadableManifestError(f"is not valid YAML: {' '.join(str(error).split())[:200]}") from error

    @cached_property
    def _line_index(self) -> LineIndex:
        return LineIndex(self.text)

    def scalar(self, node: Any) -> YamlScalar | None:
        """The scalar of a node; None for lists and maps."""
        if not isinstance(getattr(node, "value", None), str):
            return None
        start = node.start_mark.index
        return YamlScalar(
            replace_surrogates(node.value),
            *self._line_index.position(start),
            node.style or "",
            start,
            node.end_mark.index,
        )

    def script(self, value: YamlScalar) -> tuple[str, int, int]:
        """The text of a script value, with line and column of its first character."""
        if value.style not in ("|", ">"):
            return value.text, value.line, value.text_column
        _, _, body = self.text[value.start : value.end].partition("\n")
        if value.style == ">":
            # Folded style joins lines by spaces; a trailing backslash does the same and preserves positions.
            body = "\n".join(f"{line} \\" if line.strip() else line for line in body.split("\n"))
        return body, value.line + 1, 1

    def pairs(self, node: Any) -> list[tuple[YamlScalar, Any]]:
        """Keys and values of a map; empty for other nodes."""
        if getattr(node, "id", "") != "mapping":
            return []
        return [(name, value) for key, value in node.value if (name := self.scalar(key)) is not None]

    def values(self, node: Any, key: str) -> list[Any]:
        """The values of a key of a map; empty for other nodes."""
        return [value for name, value in self.pairs(node) if name.text == key]

    def scalars(self, node: Any) -> list[YamlScalar]:
        """The scalars among the elements of a list."""
        return [scalar for element in self.items(node) if (scalar := self.scalar(element)) is not None]

    def items(self, node: Any) -> list[Any]:
        """Elements of a list; empty for other nodes."""
        return list(node.value) if getattr(node, "id", "") == "sequence" else []

    def walk(self) -> Iterator[tuple[YamlScalar, Any]]:
        """Every key and value of every map in the file, each node once."""
        stack: list[Any] = [self.root]
        visited: set[int] = set()
        while stack and len(visited) < _MAX_NODES:
            node = stack.pop()
            if node is None or id(node) in visited:
                continue
            visited.add(id(node))
            pairs = self.pairs(node)
            yield from pairs
            stack += [*reversed([value for _, value in pairs]), *reversed(self.items(node))]
