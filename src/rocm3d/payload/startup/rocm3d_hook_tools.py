"""What the hooks share: a line for rocm3d, and a word when a module has been imported, or could not be."""

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


def tell(**line: object) -> None:
    """One line for rocm3d; several processes may write at once."""
    place = os.environ.get("ROCM3D_RECORD")
    if place:
        with open(place, "a", encoding="utf-8") as record:  # noqa: PTH123
            record.write(json.dumps(line) + "\n")


def after_import(name: str, then: Loaded, failed: Failed | None = None) -> None:
    """Call `then` when a module has been imported, at once if it is there.

    `failed` hears the reason where it is looked for in vain, or raises while it is loaded.
    """
    if name in sys.modules:
        then(sys.modules[name])
    else:
        _IMPORTS.wait(name, then, failed)


def safely(action: Callable[[], object]) -> None:
    """A fault of ours is told, and the program goes on."""
    try:
        action()
    except Exception as error:  # noqa: BLE001
        sys.stderr.write(f"rocm3d: not recorded: {type(error).__name__}: {error}\n")


class _Imports:
    """Sits before all finders, lets them find what somebody waits for, and wraps the end of its loading."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[tuple[Loaded, Failed | None]]] = {}
        self.local = threading.local()

    def wait(self, name: str, then: Loaded, failed: Failed | None) -> None:
        """From now on."""
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        self.waiting.setdefault(name, []).append((then, failed))

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:  # noqa: ARG002
        """What the other finders say."""
        busy = self.local.__dict__.setdefault("busy", set())
        if name not in self.waiting or name in busy:
            return None
        busy.add(name)
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            spec = None
        finally:
            busy.discard(name)
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


_IMPORTS = _Imports()
