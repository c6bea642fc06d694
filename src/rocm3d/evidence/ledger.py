"""The ledger of fixes that repositories wait for: one file, locked for every change and replaced atomically."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timezone
from pathlib import Path

from pydantic import ValidationError

from rocm3d.model.base import SCHEMA_VERSION, describe_validation_error
from rocm3d.model.counted import counted
from rocm3d.model.errors import UserError
from rocm3d.model.upstream import Fix, FixState, Ledger, Proposal
from rocm3d.workspace.documents import write_atomically
from rocm3d.workspace.state import data_path, file_lock

LEDGER_FILE = "ledger.json"
_STATES: tuple[FixState, ...] = ("open", "refused", "merged")
_MAX_BYTES = 16 * 1024 * 1024
_LEDGER_START = re.compile(rb'\s*\{.{0,200}"kind":\s*"ledger"', re.DOTALL)
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
class LedgerFile:
    """The ledger at one path. If the user chose the path, a file there that is not a ledger is never touched."""

    path: Path
    chosen_by_user: bool
    report: Callable[[str], None]

    @classmethod
    def open(cls, path: Path | None, report: Callable[[str], None]) -> LedgerFile:
        """The ledger at `path`, or the user's default one."""
        return cls((path or data_path() / LEDGER_FILE).resolve(), path is not None, report)

    def read(self) -> Ledger:
        """Read only: a damaged ledger raises and stays in place."""
        try:
            data = self._read_bytes()
        except OSError as error:
            raise UserError(f"{self.path} cannot be read: {error.strerror}") from error
        return Ledger() if data is None else Ledger.from_json(data.decode("utf-8", "replace"), str(self.path))

    def add(self, dependency: str, change: LedgerChange) -> Fix:
        """Add a fix for which rocm3d wrote no draft."""
        return self._change(lambda ledger: _add_fix(ledger, dependency, change))

    def mark(self, fix: str, change: LedgerChange) -> Fix:
        """Change a fix. A unique prefix of its id is enough."""
        return self._change(lambda ledger: _mark_fix(_find_fix(ledger, fix), change))

    def enter(self, proposal: Proposal, lines: str, repository: str) -> Fix:
        """Record that a repository needs this change. An existing fix keeps its state and links."""
        return self._change(lambda ledger: _enter_proposal(ledger, proposal, lines, repository))

    def _change(self, make: Callable[[Ledger], Fix]) -> Fix:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with file_lock(self.path):
                ledger = self._read_or_replace()
                fix = make(ledger)
                fixes = {item.id: item for item in ledger.fixes} | {fix.id: fix}
                updated = Ledger(fixes=tuple(sorted(fixes.values(), key=_rank)))
                text = updated.to_json()
                # Durable: the ledger cannot be recomputed.
                write_atomically(
                    self.path, lambda temporary: temporary.write_text(text, encoding="utf-8"), durable=True
                )
        except OSError as error:
            hint = "choose another file with --ledger"
            raise UserError(f"cannot write the ledger {self.path}: {error.strerror}", hint=hint) from error
        return fix

    def _read_bytes(self) -> bytes | None:
        if not self.path.exists():
            return None
        if not self.path.is_file() or self.path.stat().st_size > _MAX_BYTES:
            raise UserError(f"{self.path} is not a rocm3d ledger", hint="choose another file with --ledger")
        return self.path.read_bytes()

    def _read_or_replace(self) -> Ledger:
        """The current ledger. A damaged file is renamed, not overwritten; another schema version is refused."""
        data = self._read_bytes()
        if data is None:
            return Ledger()
        try:
            return Ledger.from_json(data.decode(), str(self.path))
        except (UserError, UnicodeDecodeError) as error:
            if _has_other_schema(data):
                raise
            if self.chosen_by_user and _LEDGER_START.match(data) is None:
                hint = "choose another file with --ledger"
                raise UserError(f"{self.path} is not a rocm3d ledger; it was not changed", hint=hint) from error
            stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S-%f")
            backup = self.path.with_name(f"{self.path.name}.damaged-{stamp}")
            self.path.rename(backup)
            self.report(f"the ledger is damaged. It was renamed to {backup}; starting a new one")
            return Ledger()


def slug(name: str) -> str:
    """A name in the form that ids and folders use."""
    return re.sub(r"[^a-z0-9._]+", "-", name.lower()).strip("-._")[:60] or "unnamed"


def _has_other_schema(data: bytes) -> bool:
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        return False
    version = str(raw.get("schema_version", "")) if isinstance(raw, dict) else ""
    return version != SCHEMA_VERSION and _VERSION.fullmatch(version) is not None


def _rank(fix: Fix) -> tuple[int, int, str]:
    """Open fixes first, then by the number of waiting repositories."""
    return _STATES.index(fix.state), -len(fix.repositories), fix.id


def _add_fix(ledger: Ledger, dependency: str, change: LedgerChange) -> Fix:
    name = slug(dependency)
    if any(item.id == name for item in ledger.fixes):
        raise UserError(f"{name} is already in the ledger", hint=f"use `rocm3d ledger mark {name}`")
    return _apply_change(_new_fix(name, dependency), change)


def _mark_fix(fix: Fix, change: LedgerChange) -> Fix:
    if change == LedgerChange():
        raise UserError("nothing to change", hint="pass --state, --link, --unblocks, --what or --note")
    return _apply_change(fix, change)


def _enter_proposal(ledger: Ledger, proposal: Proposal, lines: str, repository: str) -> Fix:
    name = f"{slug(proposal.name)}-{lines[:8]}"
    recipes = dict.fromkeys(recipe for item in proposal.edited for recipe in item.recipes)
    what = ", ".join(recipes) or f"{counted(len(proposal.edited), 'file')} edited, {len(proposal.added)} added"
    known = next((item for item in ledger.fixes if item.id == name), None)
    start = known or _new_fix(name, proposal.name, origin=proposal.origin, lines=lines, what=what[:500])
    return _apply_change(start, LedgerChange(repositories=(repository,)))


def _find_fix(ledger: Ledger, id_prefix: str) -> Fix:
    exact = [item for item in ledger.fixes if item.id == id_prefix]
    candidates = exact or [item for item in ledger.fixes if item.id.startswith(id_prefix)]
    if len(candidates) == 1:
        return candidates[0]
    names = ", ".join(item.id for item in candidates[:5])
    if candidates:
        raise UserError(f"{id_prefix} matches several fixes: {names}", hint="pass the full id")
    raise UserError(f"no fix {id_prefix} in the ledger", hint="see `rocm3d ledger show`")


def _new_fix(name: str, dependency: str, **fields: str) -> Fix:
    return _validate_fix({"id": name, "dependency": dependency, "first": _today(), "changed": _today(), **fields})


def _apply_change(fix: Fix, change: LedgerChange) -> Fix:
    values = {
        **fix.model_dump(),
        "state": change.state or fix.state,
        "links": _merge(fix.links, change.links),
        "repositories": _merge(fix.repositories, change.repositories),
        "what": change.what or fix.what,
        "note": change.note or fix.note,
    }
    return fix if values == fix.model_dump() else _validate_fix({**values, "changed": _today()})


def _validate_fix(values: dict[str, object]) -> Fix:
    try:
        return Fix.model_validate(values)
    except ValidationError as error:
        raise UserError(describe_validation_error(error), hint="see `rocm3d ledger mark --help`") from error


def _merge(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _today() -> date:
    return datetime.now(timezone.utc).date()
