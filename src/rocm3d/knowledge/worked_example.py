"""A worked example of a change: the part of a rule's cases, or of its texts, that shows what to do by hand."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge

MAX_LINES = 14
_CONTEXT = 1


@dataclass(frozen=True)
class WorkedExample:
    """Code before and after a change; `after` is empty if the rule has no such text."""

    before: str = ""
    after: str = ""


def worked_example(code: str, knowledge: Knowledge) -> WorkedExample:
    """The example of a rule: its own texts, else the first change of its fix's cases. Empty for an unknown rule."""
    rule = knowledge.codes.get(code)
    if rule is None:
        return WorkedExample()
    if rule.example_after or rule.fix is None or rule.fix.id not in knowledge.examples:
        return WorkedExample(rule.example, rule.example_after)
    cases = knowledge.examples[rule.fix.id]
    return first_change(cases.before.decode("utf-8", "replace"), cases.after.decode("utf-8", "replace"))


def first_change(before: str, after: str) -> WorkedExample:
    """The first part of a text that differs in more than its set-up, with a line of context."""
    old, new = before.splitlines(), after.splitlines()
    groups = list(difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT))
    if not groups:
        return WorkedExample(before.strip("\n"))
    added = ([line for tag, _, _, start, end in group if tag != "equal" for line in new[start:end]] for group in groups)
    blocks = next((group for group, lines in zip(groups, added, strict=True) if not _is_set_up(lines)), groups[0])
    first, last = blocks[0], blocks[-1]
    return WorkedExample(_shortened(old[first[1] : last[2]]), _shortened(new[first[3] : last[4]]))


def _is_set_up(lines: list[str]) -> bool:
    """Whether lines only prepare the change: the import of torch and the flag of the file."""
    return all(not line or line == "import torch" or line.startswith("is_rocm = ") for line in lines)


def _shortened(lines: list[str]) -> str:
    lines = [*lines[: MAX_LINES - 1], "..."] if len(lines) > MAX_LINES else lines
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip() and line != "..."), default=0)
    return "\n".join(line[indent:] if line != "..." else line for line in lines).strip("\n")
