"""Shared by the hooks: writing events, and callbacks after the import of a module."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

Loaded = Callable[[Any], object]
Failed = Callable[[str, str], object]


def report_event(**event: object) -> None:
    """Append an event as a JSON line; several processes may write at once."""
    report_file = os.environ.get("ROCM3D_RECORD")
    if report_file:
        with open(report_file, "a", encoding="utf-8") as record:  # noqa: PTH123
            record.write(json.dumps(event) + "\n")


def after_import(name: str, then: Loaded, failed: Failed | None = None) -> None:
    """Call `then` after a module has been imported, immediately if it already is.

    `failed` receives name and reason if the module is not found or raises during its import.
    """
    if name in sys.modules:
        then(sys.modules[name])
    else:
        _IMPORT_WATCHER.wait(name, then, failed)


def safely(action: Callable[[], object]) -> None:
    """Call `action`; print an error instead of raising it into the user's program."""
    try:
        action()
    except Exception as error:  # noqa: BLE001
        sys.stderr.write(f"rocm3d: not recorded: {type(error).__name__}: {error}\n")


class _ImportWatcher:
    """A meta path finder in front of all others: it lets them find a watched module and wraps its loader."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[tuple[Loaded, Failed | None]]] = {}
        self.local = threading.local()

    def wait(self, name: str, then: Loaded, failed: Failed | None) -> None:
        """Register callbacks for a module."""
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        self.waiting.setdefault(name, []).append((then, failed))

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:  # noqa: ARG002
        """Return the spec of the other finders, with a wrapped loader if the module is watched."""
        searching = self.local.__dict__.setdefault("busy", set())
        if name not in self.waiting or name in searching:
            return None
        searching.add(name)
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            spec = None
        finally:
            searching.discard(name)
        if spec is None:
            self._failed(name, "not installed")
        elif spec.loader is not None and not isinstance(spec.loader, type):
            self._wrap(name, spec.loader)
        return spec

    def _wrap(self, name: str, loader: Any) -> None:
        run = loader.exec_module

        def execute(module: Any) -> None:
            with contextlib.suppress(AttributeError):
                del loader.exec_module
            try:
                run(module)
            except BaseException as error:
                self._failed(name, f"{type(error).__name__}: {error}")
                raise
            for then, _ in self.waiting.pop(name, ()):
                safely(lambda then=then: then(module))  # type: ignore[misc]

        loader.exec_module = execute

    def _failed(self, name: str, reason: str) -> None:
        for _, failed in self.waiting.get(name, ()):
            if failed is not None:
                safely(lambda failed=failed: failed(name, reason))  # type: ignore[misc]


_IMPORT_WATCHER = _ImportWatcher()
