"""A fast path for `rocm3d scan PATH --format json --quiet`: building the full command line takes longer than the scan.

It accepts --only, --skip, --work, --isolated and --no-cache. Any other argument and any error are left to the full
command line, which reports them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.cli.comma_lists import split_commas
from rocm3d.model.errors import ExitCode
from rocm3d.workspace.interrupts import ignore_interrupts, interruptible

if TYPE_CHECKING:
    from rocm3d.scan.scan_cache import CachedScan

_QUIET = frozenset({"--quiet", "-q"})


@dataclass
class _ScanArguments:
    paths: list[str] = field(default_factory=list)
    quiet: bool = False
    no_cache: bool = False
    isolated: bool = False
    options: dict[str, list[str]] = field(
        default_factory=lambda: {"--format": [], "--only": [], "--skip": [], "--work": []}
    )

    @property
    def is_supported(self) -> bool:
        """Whether the fast path applies: one path, JSON, quiet, and --work at most once."""
        options = self.options
        return self.quiet and len(self.paths) == 1 and options["--format"] == ["json"] and len(options["--work"]) < 2

    @property
    def work(self) -> Path | None:
        return Path(self.options["--work"][0]) if self.options["--work"] else None


def run_fast_scan(arguments: list[str]) -> ExitCode | None:
    """Print the document and return the exit code; None if the full command line must handle the call."""
    scan_arguments = _parse_arguments(arguments[1:]) if arguments[:1] == ["scan"] else None
    if scan_arguments is None or not scan_arguments.is_supported:
        return None
    try:
        with interruptible():
            result = (None if scan_arguments.no_cache else _cached_scan(scan_arguments)) or _new_scan(scan_arguments)
    except KeyboardInterrupt:
        ignore_interrupts()
        sys.stderr.write("rocm3d: interrupted\n")
        return ExitCode.INTERRUPTED
    except Exception:  # noqa: BLE001  (the full command line raises it again and reports it)
        return None
    try:
        sys.stdout.write(result.text)
        sys.stdout.flush()
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            sys.stderr.close()
        return ExitCode.DONE
    return ExitCode.FINDINGS if result.serious else ExitCode.DONE


def _cached_scan(arguments: _ScanArguments) -> CachedScan | None:
    """The cached document of an earlier scan; None if the tree, the rules or the records have changed."""
    from rocm3d.scan.scan_cache import cached_scan

    return cached_scan(
        Path(arguments.paths[0]),
        arguments.work,
        split_commas(arguments.options["--only"]),
        split_commas(arguments.options["--skip"]),
        isolated=arguments.isolated,
    )


def _new_scan(arguments: _ScanArguments) -> CachedScan:
    # Without plugins pydantic does not search all installed distributions. No child process inherits this.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from rocm3d.cli.session import CliSession
    from rocm3d.scan.scan_cache import CachedScan

    only, skip = (split_commas(arguments.options[name]) for name in ("--only", "--skip"))
    session = CliSession(
        quiet=True,
        verbose=False,
        log_file=None,
        offline=False,
        no_cache=arguments.no_cache,
        knowledge=None,
        isolated=arguments.isolated,
    )
    with session.repository(Path(arguments.paths[0]), work=arguments.work, only=only, skip=skip) as opened:
        document = opened.scan()
    return CachedScan(document.to_json(), any(finding.severity != "note" for finding in document.findings))


def _parse_arguments(tokens: list[str]) -> _ScanArguments | None:
    """Parse the arguments; None if one of them is unknown."""
    arguments, remaining = _ScanArguments(), iter(tokens)
    for token in remaining:
        if token in arguments.options:
            value = next(remaining, None)
            if value is None or value.startswith("-"):
                return None
            arguments.options[token].append(value)
        elif token in _QUIET:
            arguments.quiet = True
        elif token == "--no-cache":
            arguments.no_cache = True
        elif token == "--isolated":
            arguments.isolated = True
        elif token.startswith("-"):
            return None
        else:
            arguments.paths.append(token)
    return arguments
