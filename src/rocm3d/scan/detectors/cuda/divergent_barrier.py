"""A block barrier that not every thread reaches: in a thread-dependent branch, or in a loop that some threads leave.

CUDA forbids both but often tolerates them. AMD GPUs hang or mix up two barriers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import ancestors_with_child, function_name
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_BARRIER = re.compile(r"__syncthreads(?:_count|_and|_or)?$")
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement"})
_THREAD = re.compile(r"\bthreadIdx\b|\bthread_rank\s*\(")
_UNIFORM = re.compile(r"\b__syncthreads_\w+\s*\(")  # the result is the same in all threads of the block
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches barriers in a branch or loop that depends on the thread index, directly or through a variable."""
    if b"__syncthreads" not in unit.data:
        return
    analysis = _BarrierAnalysis(unit, unit.parents)
    for call in unit.nodes("call_expression"):
        name = function_name(unit, call)
        if _BARRIER.match(name) and unit.is_shared(call.start_byte):
            branch = analysis.divergent_branch(call)
            if branch is not None:
                yield match_at(unit, call, call=name, branch=branch)


@dataclass
class _BarrierAnalysis:
    unit: CudaUnit
    parents: dict[int, Node]
    reported_loops: set[int] = field(default_factory=set)  # node ids of loops with a reported barrier
    thread_variables: dict[int, set[str]] = field(default_factory=dict)

    def divergent_branch(self, barrier: Node) -> str | None:
        """The condition that keeps some threads from reaching a barrier, or None."""
        names, path = self._up_to_function(barrier)
        for node, child in path:
            condition = self._thread_condition(node, names)
            if condition is not None and node.child_by_field_name("condition") != child:
                return condition
            if node.id in self._exits and node.id not in self.reported_loops:
                self.reported_loops.add(node.id)
                return self._exits[node.id]
        return None

    @cached_property
    def _exits(self) -> dict[int, str]:
        """Loops that some threads leave by `return` or `break`: node id to condition and statement."""
        exits: dict[int, str] = {}
        for node in self.unit.nodes("return_statement", "break_statement"):
            names, path = self._up_to_function(node)
            why: str | None = None
            for parent, _ in path:
                if parent.type in _LOOPS and why is not None:
                    exits.setdefault(parent.id, f"{why}: {node.type.split('_')[0]}")
                if node.type == "break_statement" and (parent.type in _LOOPS or parent.type == "switch_statement"):
                    break
                if parent.type == "if_statement":
                    why = why or self._thread_condition(parent, names)
        return exits

    def _up_to_function(self, node: Node) -> tuple[set[str], list[tuple[Node, Node]]]:
        path = list(ancestors_with_child(node, self.parents))
        owner = next((i for i, (n, _) in enumerate(path) if n.type in ("function_definition", "lambda_expression")), 0)
        function = path[owner][0]
        if function.id not in self.thread_variables:
            self.thread_variables[function.id] = _thread_variables(self.unit, function)
        return self.thread_variables[function.id], path[:owner]

    def _thread_condition(self, node: Node, names: set[str]) -> str | None:
        condition = (
            node.child_by_field_name("condition") if node.type == "if_statement" or node.type in _LOOPS else None
        )
        text = "" if condition is None else self.unit.slice(condition)
        return " ".join(text.split()).strip("()") if _depends_on_thread(text, names) else None


def _depends_on_thread(text: str, names: set[str]) -> bool:
    return _UNIFORM.search(text) is None and (
        _THREAD.search(text) is not None or not names.isdisjoint(_IDENTIFIER.findall(text))
    )


def _thread_variables(unit: CudaUnit, function: Node) -> set[str]:
    """Names of variables that are computed from the thread index."""
    names: set[str] = set()
    for node in walk(function):
        name, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        if node.type != "init_declarator" or name is None or value is None or name.type != "identifier":
            continue
        if _depends_on_thread(unit.slice(value), names):
            names.add(unit.slice(name))
    return names


detector = Detector(__name__, code="CU108", unit_types=CudaUnit, find=find)
