"""Settings of a repository for rocm3d: rocm3d.toml, or [tool.rocm3d] in pyproject.toml."""

from __future__ import annotations

from typing import Any

from pydantic import Field, ValidationError

from rocm3d.model.base import Record, describe_validation_error
from rocm3d.model.errors import UserError
from rocm3d.model.plan_choices import LicenceRule
from rocm3d.model.toml import TomlError, parse
from rocm3d.workspace.tree import Tree


class _SettingsFile(Record):
    """The keys of the file; any other key is an error."""

    gpu: str | None = None
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    licence_policy: LicenceRule | None = Field(default=None, alias="licence-policy")


class Configuration(_SettingsFile):
    """Settings of a repository, which the command line overrides. `source` is the file that they are in."""

    source: str = ""


def read_configuration(tree: Tree) -> Configuration:
    """Read the settings. Having both files is an error, because one of them would be ignored silently."""
    settings, pyproject = _read_toml(tree, "rocm3d.toml", strict=True), _read_toml(tree, "pyproject.toml", strict=False)
    tool = pyproject.get("tool")
    section = tool.get("rocm3d") if isinstance(tool, dict) else None
    if settings and section:
        raise UserError("both rocm3d.toml and [tool.rocm3d] in pyproject.toml exist", hint="remove one of them")
    if not settings and section is None:
        return Configuration.model_construct()  # the defaults, without the cost of building the validator
    name = "rocm3d.toml" if settings else "pyproject.toml, [tool.rocm3d]"
    try:
        keys = _SettingsFile.model_validate(settings or section or {})
        return Configuration.model_construct(**keys.__dict__, source=name)
    except ValidationError as error:
        raise UserError(
            f"{name}: {describe_validation_error(error)}", hint="known keys: gpu, only, skip, licence-policy"
        ) from error


def _read_toml(tree: Tree, path: str, *, strict: bool) -> dict[str, Any]:
    """`strict` is for rocm3d.toml. A broken pyproject.toml is reported by scan, so it is ignored here."""
    data = tree.peek(path)
    if data is None:
        return {}
    try:
        return parse(data)
    except TomlError as error:
        if strict:
            raise UserError(f"{path}: {error}") from error
        return {}
