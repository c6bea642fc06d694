"""The ledger of fixes that repositories wait for: one file, locked for every change and replaced atomically."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from rocm3d.model.base import SCHEMA_VERSION, describe_validation_error
from rocm3d.model.failure import UserError
from rocm3d.model.ledger import Fix, FixState, Ledger
from rocm3d.workspace.documents import write_atomically
from rocm3d.workspace.lock import file_lock
from rocm3d.workspace.state import data_path

if TYPE_CHECKING:
    from rocm3d.model.upstream import Proposal

NAME = "ledger.json"
_STATES: tuple[FixState, ...] = ("open", "refused", "merged")
_LIMIT = 16 * 1024 * 1024
_OURS = re.compile(rb'\s*\{.{0,200}"kind":\s*"ledger"', re.DOTALL)
_VERSION = re.compile(r"\d{1,5}\.\d{1,5}")


@dataclass(frozen=True)
class LedgerChange:
    """A change of one fix; None and empty values leave it as it is."""

    state: FixState | None = None
    links: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    what: str = ""
    note: str = ""


@dataclass(frozen=True)
class Book:
    """The ledger at one path. If the user chose the path, a file there that is not a ledger is never touched."""

    place: Path
    named: bool
    say: Callable[[str], None]

    @classmethod
    def at(cls, asked: Path | None, say: Callable[[str], None]) -> Book:
        """The ledger at `path`, or the user's default one."""
        return cls((asked or data_path() / NAME).resolve(), asked is not None, say)

    def read(self) -> Ledger:
        """Read only: a damaged ledger raises and stays in place."""
        try:
            data = self._data()
        except OSError as error:
            raise UserError(f"{self.place} cannot be read: {error.strerror}") from error
        return Ledger() if data is None else Ledger.from_json(data.decode("utf-8", "replace"), str(self.place))

    def add(self, dependency: str, change: LedgerChange) -> Fix:
        """Add a fix for which rocm3d wrote no draft."""
        return self._change(lambda ledger: _added(ledger, dependency, change))

    def mark(self, fix: str, change: LedgerChange) -> Fix:
        """Change a fix. A unique prefix of its id is enough."""
        return self._change(lambda ledger: _marked(ledger, _found(ledger, fix), change))

    def enter(self, proposal: Proposal, lines: str, repository: str) -> Fix:
        """Record that a repository needs this change. An existing fix keeps its state and links."""
        return self._change(lambda ledger: _entered(ledger, proposal, lines, repository))

    def _change(self, make: Callable[[Ledger], Fix]) -> Fix:
        try:
            self.place.parent.mkdir(parents=True, exist_ok=True)
            with file_lock(self.place):
                ledger = self._kept()
                fix = make(ledger)
                fixes = {item.id: item for item in ledger.fixes} | {fix.id: fix}
                kept = Ledger(fixes=tuple(sorted(fixes.values(), key=_rank)))
                text = kept.to_json()
                # Durable: the ledger cannot be recomputed.
                write_atomically(self.place, lambda temporary: temporary.write_text(text, encoding="utf-8"), durable=True)
        except OSError as error:
            hint = "choose another file with --ledger"
            raise UserError(f"cannot write the ledger {self.place}: {error.strerror}", hint=hint) from error
        return fix

    def _data(self) -> bytes | None:
        if not self.place.exists():
            return None
        if not self.place.is_file() or self.place.stat().st_size > _LIMIT:
            raise UserError(f"{self.place} is not a rocm3d ledger", hint="choose another file with --ledger")
        return self.place.read_bytes()

    def _kept(self) -> Ledger:
        """The current ledger. A damaged file is renamed, not overwritten; another schema version is refused."""
        data = self._data()
        if data is None:
            return Ledger()
        try:
            return Ledger.from_json(data.decode(), str(self.place))
        except (UserError, UnicodeDecodeError) as error:
            if _of_another_schema(data):
                raise
            if self.named and _OURS.match(data) is None:
                hint = "choose another file with --ledger"
                raise UserError(f"{self.place} is not a rocm3d ledger; it was not changed", hint=hint) from error
            stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S-%f")
            aside = self.place.with_name(f"{self.place.name}.damaged-{stamp}")
            self.place.rename(aside)
            self.say(f"the ledger is damaged. It was renamed to {aside}; starting a new one")
            return Ledger()


def slug(name: str) -> str:
    """A name in the form that ids and folders use."""
    return re.sub(r"[^a-z0-9._]+", "-", name.lower()).strip("-._")[:60] or "unnamed"


def _of_another_schema(data: bytes) -> bool:
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        return False
    version = str(raw.get("schema_version", "")) if isinstance(raw, dict) else ""
    return version != SCHEMA_VERSION and _VERSION.fullmatch(version) is not None


def _rank(fix: Fix) -> tuple[int, int, str]:
    """Open fixes first, then by the number of waiting repositories."""
    return _STATES.index(fix.state), -len(fix.repositories), fix.id


def _added(ledger: Ledger, dependency: str, change: LedgerChange) -> Fix:
    name = slug(dependency)
    if any(item.id == name for item in ledger.fixes):
        raise UserError(f"{name} is already in the ledger", hint=f"use `rocm3d ledger mark {name}`")
    return _with(_new(name, dependency), change)


def _marked(ledger: Ledger, fix: Fix, change: LedgerChange) -> Fix:  # noqa: ARG001  (one signature for all)
    if change == LedgerChange():
        raise UserError("nothing to change", hint="pass --state, --link, --unblocks, --what or --note")
    return _with(fix, change)


def _entered(ledger: Ledger, proposal: Proposal, lines: str, repository: str) -> Fix:
    name = f"{slug(proposal.name)}-{lines[:8]}"
    recipes = dict.fromkeys(recipe for item in proposal.edited for recipe in item.recipes)
    what = ", ".join(recipes) or f"{len(proposal.edited)} files edited, {len(proposal.added)} added"
    known = next((item for item in ledger.fixes if item.id == name), None)
    start = known or _new(name, proposal.name, origin=proposal.origin, lines=lines, what=what[:500])
    return _with(start, LedgerChange(repositories=(repository,)))


def _found(ledger: Ledger, asked: str) -> Fix:
    exact = [item for item in ledger.fixes if item.id == asked]
    found = exact or [item for item in ledger.fixes if item.id.startswith(asked)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(item.id for item in found[:5])
    if found:
        raise UserError(f"{asked} matches several fixes: {names}", hint="pass the full id")
    raise UserError(f"no fix {asked} in the ledger", hint="see `rocm3d ledger show`")


def _new(name: str, dependency: str, **given: str) -> Fix:
    return _checked({"id": name, "dependency": dependency, "first": _today(), "changed": _today(), **given})


def _with(fix: Fix, change: LedgerChange) -> Fix:
    told = {
        **fix.model_dump(),
        "state": change.state or fix.state,
        "links": _joined(fix.links, change.links),
        "repositories": _joined(fix.repositories, change.repositories),
        "what": change.what or fix.what,
        "note": change.note or fix.note,
    }
    return fix if told == fix.model_dump() else _checked({**told, "changed": _today()})


def _checked(values: dict[str, object]) -> Fix:
    try:
        return Fix.model_validate(values)
    except ValidationError as error:
        raise UserError(describe_validation_error(error), hint="see `rocm3d ledger mark --help`") from error


def _joined(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _today() -> date:
    return datetime.now(timezone.utc).date()
