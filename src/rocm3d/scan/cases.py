"""Cases of a rule: found.txt and silent.txt in its cases/ folder. They are its tests, and `kb check` runs them.

    ==== src/a.cu 2:3 4:1=note    a file, and where the rule matches: line:column, =severity if it is not the rule's
    ==== 2:3 text                 the message of that finding
    ==== and src/b.cuh            another file of the same case
    the source code, up to the next header

The last line of a file has no line end if its header ends with `no-newline`.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.model.errors import UserError
from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import scan
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.finding import Finding
    from rocm3d.model.inventory import Scan
    from rocm3d.model.rule import Rule

CASE_FILES = ("found.txt", "silent.txt")

_HEADER = b"==== "
_POSITION = re.compile(r"(\d+:\d+)(?:=(error|warning|note))?")
_NO_NEWLINE = "no-newline"


@dataclass
class RuleCase:
    """Files of a small repository. `expected` are `path line:column severity` of the findings, in order."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    expected: list[str] = field(default_factory=list)
    messages: dict[str, str] = field(default_factory=dict)
    unterminated: set[str] = field(default_factory=set)  # paths of files without a last line end

    def add_file(self, path: str, words: list[str], rule: Rule, header: str) -> None:
        """Begin a file; `words` are the rest of its header."""
        self.files[path] = b""
        for word in words:
            position = _POSITION.fullmatch(word)
            if word == _NO_NEWLINE:
                self.unterminated.add(path)
            elif position is None:
                raise UserError(f"{header}: {word!r} is not a position", hint="write line:column")
            else:
                self.expected.append(f"{path} {position.group(1)} {position.group(2) or rule.severity}")

    def without_newlines(self) -> RuleCase:
        for path in self.unterminated:
            self.files[path] = self.files[path].removesuffix(b"\n")
        return self

    def scan(self, knowledge: Knowledge, selection: Selection) -> Scan:
        """A scan of the files."""
        with tempfile.TemporaryDirectory(prefix="rocm3d-case-") as folder:
            root = Path(folder) / "repository"
            root.mkdir()
            for path, data in self.files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(data)
            return scan(Tree.open(root), knowledge, selection, lambda _: None)

    def findings(self, rule: Rule, knowledge: Knowledge) -> tuple[Finding, ...]:
        """What the rule finds in the files."""
        return self.scan(knowledge, Selection(only=(rule.rule,))).findings

    def problem(self, rule: Rule, knowledge: Knowledge) -> str:
        """How the findings differ from the expected ones; empty if they do not."""
        findings = self.findings(rule, knowledge)
        positions = [f"{item.path} {item.line}:{item.column} {item.severity}" for item in findings]
        if positions != self.expected:
            return f"{self.name}: finds {positions or 'nothing'} instead of {self.expected or 'nothing'}"
        messages = {f"{item.path} {item.line}:{item.column}": item.message for item in findings}
        wrong = [text for position, text in self.messages.items() if messages.get(position) != text]
        return f"{self.name}: no finding says {wrong[0]!r}" if wrong else ""


def rule_cases(folder: Path, rule: Rule) -> list[RuleCase]:
    """The cases of the rule in this folder."""
    paths = [folder / name for name in CASE_FILES]
    return [case for path in paths if path.is_file() for case in parse_cases(path.name, path.read_bytes(), rule)]


def parse_cases(name: str, data: bytes, rule: Rule) -> Iterator[RuleCase]:
    """The cases of one file. Raises UserError for a header that it does not understand."""
    case, path = RuleCase(""), ""
    for number, line in enumerate(re.findall(rb"[^\n]*\n|[^\n]+", data), 1):
        header = f"{name}:{number}"
        if not line.startswith(_HEADER):
            if not path:
                raise UserError(f"{header}: source code without a header", hint="start with `==== a.cu`")
            case.files[path] += line
            continue
        first, *words = line.decode("utf-8", "replace").split()[1:] or [""]
        if _POSITION.fullmatch(first):
            case.messages[f"{path} {first}"] = " ".join(words)
        elif first == "and":
            path, *words = words or [""]
            case.add_file(path, words, rule, header)
        else:
            if case.name:
                yield case.without_newlines()
            case, path = RuleCase(header), first
            case.add_file(path, words, rule, header)
    if case.name:
        yield case.without_newlines()
