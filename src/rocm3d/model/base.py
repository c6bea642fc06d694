"""Base classes of all records and documents, and the schema version policy."""

from __future__ import annotations

import json
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from rocm3d import __version__
from rocm3d.model.errors import UserError

SCHEMA_VERSION = "1.2"

DocumentT = TypeVar("DocumentT", bound="Document")


def _check_tree_path(path: str) -> str:
    if not path or path.startswith("/") or "\0" in path or ".." in path.split("/"):
        raise ValueError("this path leads out of the repository")
    return path


TreePath = Annotated[str, AfterValidator(_check_tree_path)]
"""A relative POSIX path of a document, which somebody else may have written, that rocm3d opens or runs git in."""


class PublicText:
    """Marks a field that rocm3d fills by itself and that cannot contain a secret: the recorder does not search it."""


Digest = Annotated[str, PublicText()]
Commit = Annotated[str, PublicText()]
Version = Annotated[str, PublicText()]


class Record(BaseModel):
    """A frozen value. Unknown keys are errors, so that typos are reported."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Document(Record):
    """A JSON file that one stage writes and the next one reads.

    `schema_version` is MAJOR.MINOR. A new minor version only adds keys. A reader accepts its own major version with the
    same or an older minor version.
    """

    schema_version: Version = SCHEMA_VERSION
    tool_version: Version = __version__

    def to_json(self) -> str:
        """Stable text: declared key order, two spaces, one final newline."""
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def from_json(cls: type[DocumentT], text: str, name: str) -> DocumentT:
        """Parse a document. `name` identifies it in the UserError that is raised if it is invalid."""
        try:
            raw = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{name} is not JSON: {error}", hint="rerun the stage that writes it") from error
        if not isinstance(raw, dict):
            raise UserError(f"{name} is not a rocm3d document", hint="rerun the stage that writes it")
        _check_schema_version(raw, name)
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise UserError(
                f"{name}: {describe_validation_error(error)}", hint="rerun the stage that writes it"
            ) from error


def _check_schema_version(raw: dict[str, Any], name: str) -> None:
    file_version, own_version = _parse_version(str(raw.get("schema_version", ""))), _parse_version(SCHEMA_VERSION)
    if file_version is None or own_version is None:
        raise UserError(f"{name} has no schema_version", hint="rerun the stage that writes it")
    if file_version[0] != own_version[0] or file_version[1] > own_version[1]:
        writer = _one_line(str(raw.get("tool_version", "of that schema")))
        raise UserError(
            f"{name} has schema {raw['schema_version']}; "
            f"rocm3d {__version__} reads {own_version[0]}.0 to {SCHEMA_VERSION}",
            hint=f"install rocm3d {writer}, which wrote it, or rerun the stage",
        )


def _parse_version(version: str) -> tuple[int, int] | None:
    major, _, minor = version.partition(".")
    valid = all(part.isdecimal() and len(part) < 6 for part in (major, minor))
    return (int(major), int(minor)) if valid else None


def describe_validation_error(error: ValidationError) -> str:
    """The first problem of a validation error as `key.path: message`, with the number of further problems."""
    first, *others = error.errors(include_url=False)
    key_path = ".".join(str(part) for part in first["loc"]) or "(top level)"
    more = f" (and {len(others)} more)" if others else ""
    return f"{_one_line(key_path)}: {_one_line(first['msg'])}{more}"


def _one_line(text: str, limit: int = 300) -> str:
    """Text of a document in a message: keys may have line ends and escapes of terminals, and any length."""
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: limit + 1])
    return printable if len(printable) <= limit else f"{printable[:limit]}..."
