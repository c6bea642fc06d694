"""A target's own settings for rocm3d: rocm3d.toml, or [tool.rocm3d] in its pyproject.toml."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from rocm3d.model.base import Record, describe
from rocm3d.model.failure import UserError

if TYPE_CHECKING:
    from rocm3d.workspace.tree import Tree

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Configuration(Record):
    """The command line wins over these; an unknown key is an error."""

    gpu: str | None = None
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    licence_policy: str | None = Field(default=None, alias="licence-policy")


def configuration(tree: Tree) -> Configuration:
    """Read the settings; both files at once is an error, as one would be silently ignored."""
    own, shared = _toml(tree, "rocm3d.toml", strict=True), _toml(tree, "pyproject.toml", strict=False)
    tool = shared.get("tool")
    section = tool.get("rocm3d") if isinstance(tool, dict) else None
    if own and section:
        raise UserError("both rocm3d.toml and [tool.rocm3d] in pyproject.toml are there", hint="keep one of them")
    name = "rocm3d.toml" if own else "pyproject.toml, [tool.rocm3d]"
    try:
        return Configuration.model_validate(own or section or {})
    except ValidationError as error:
        raise UserError(f"{name}: {describe(error)}", hint="known are gpu, only, skip, licence-policy") from error


def _toml(tree: Tree, path: str, *, strict: bool) -> dict[str, Any]:
    """A broken pyproject.toml is the repository's own trouble and is reported by scan; ours must be right."""
    data = tree.read(path) if path in tree else None
    if data is None:
        return {}
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        if strict:
            raise UserError(f"{path}: {error}") from error
        return {}
