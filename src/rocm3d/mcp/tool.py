"""Tools and their discovery: every module of `rocm3d.mcp.tools` is one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from rocm3d.model.base import Record, describe_validation_error
from rocm3d.model.errors import UserError
from rocm3d.model.registry import load_module, module_names

if TYPE_CHECKING:
    from rocm3d.mcp.tool_context import ToolContext
    from rocm3d.mcp.tool_response import ToolResponse


_TOOLS = "rocm3d.mcp.tools"


@dataclass(frozen=True)
class McpTool:
    """One tool. `paths` lists its path arguments. `changes`: it changes a repository. `runs`: it may run code, if the
    server allows it.
    """

    name: str
    title: str
    about: str
    arguments: type[Record]
    work: Callable[[Any, ToolContext], ToolResponse]
    paths: tuple[str, ...] = ()
    changes: bool = False
    runs: bool = False
    position: int = 0

    def parse_arguments(self, raw_arguments: dict[str, Any] | None) -> Record:
        """Validate the arguments of a call. UserError if they are invalid."""
        try:
            return self.arguments.model_validate(raw_arguments or {})
        except ValidationError as error:
            raise UserError(f"{self.name}: {describe_validation_error(error)}") from error


@cache
def all_tools() -> dict[str, McpTool]:
    """All tools by name, in the order of a port."""
    loaded = [load_tool(name) for name in module_names(_TOOLS)]
    return {entry.name: entry for entry in sorted(loaded, key=lambda entry: entry.position)}


def load_tool(name: str) -> McpTool:
    """One tool, without importing the others."""
    module = load_module(_TOOLS, name)
    return McpTool(
        name=name,
        title=module.TITLE,
        about=inspect.getdoc(module.work) or "",
        arguments=module.Arguments,
        work=module.work,
        paths=getattr(module, "PATHS", ()),
        changes=getattr(module, "CHANGES", False),
        runs=getattr(module, "RUNS", False),
        position=module.POSITION,
    )
