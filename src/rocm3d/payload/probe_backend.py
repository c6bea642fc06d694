"""Checks one package in the user's environment and prints the result as one JSON line.

    python probe_backend.py REQUEST.json

The request: `probe` (a file of probes/; empty: only import), `modules` (import names of the package), `device`,
`tolerances` (rtol and atol by name) and `roots` (folders outside the environment that it may come from). Each check is
a separate process, so that a package that crashes affects no other check.
"""

from __future__ import annotations

import faulthandler
import importlib
import importlib.util
import json
import os
import site
import sys
import traceback
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

PAYLOAD_FOLDER = Path(__file__).resolve().parent


def load_payload(name: str) -> Any:
    """Load a payload by its path. The payload folder is not on sys.path: probes would shadow the packages."""
    spec = importlib.util.spec_from_file_location(f"rocm3d_payload_{Path(name).stem}", PAYLOAD_FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_installed(name: str) -> bool:
    """Whether the top-level package of a module name can be found."""
    top = name.partition(".")[0]
    try:
        return importlib.util.find_spec(top) is not None
    except ValueError:
        return top in sys.modules


def describe_module(module: Any, roots: list[str]) -> dict[str, Any]:
    """Name, file, version and origin of a module."""
    paths = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    file = next((str(path) for path in paths if path), "")
    name = module.__name__
    dists = _distributions_by_module().get(name.split(".")[0], [])
    version = metadata.version(dists[0]) if dists else str(getattr(module, "__version__", ""))
    return {
        "name": name,
        "file": file,
        "version": version,
        "distribution": dists[0] if dists else "",
        "origin": _origin(file, dists, roots),
        "stands_in": str(getattr(module, "__rocm3d__", "")),
    }


def _distributions_by_module() -> dict[str, list[str]]:
    return dict(metadata.packages_distributions()) if sys.version_info >= (3, 10) else {}


def _origin(file: str, dists: list[str], roots: list[str]) -> str:
    environment_folders = [*site.getsitepackages(), site.getusersitepackages(), sys.prefix, sys.base_prefix]
    if any(_is_below(file, home) for home in environment_folders):
        return "environment"
    if any(_is_below(file, root) for root in roots):
        return "repository"
    for dist in dists:
        direct_url = json.loads(metadata.distribution(dist).read_text("direct_url.json") or "{}")
        if direct_url.get("dir_info", {}).get("editable") and _is_below(
            file, url2pathname(urlsplit(direct_url["url"]).path)
        ):
            return "editable"
    return "elsewhere"


def _is_below(file: str, folder: str) -> bool:
    try:
        return Path(file).resolve().is_relative_to(Path(folder).resolve())
    except (OSError, ValueError):
        return False


def import_torch() -> Any:
    """torch, or None if it is not installed. Other import errors are raised."""
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return None
    return torch


class BackendProbe:
    """One check of a package; `answer` is always a valid result, even if the check ends early."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.answer: dict[str, Any] = {
            "probe": request["probe"], "outcome": "broken", "reason": "", "evidence": "", "modules": [],
            "libraries": [], "kernels": None, "checks": [], "facts": {},
        }  # fmt: skip
        self.tools = load_payload("probe_session")

    def run(self) -> None:
        """Fill `answer`. Every exception of the package becomes a result."""
        try:
            self._run()
        except self.tools.FallbackError as end:
            self._set_result("fallback", str(end))
        except self.tools.NotRunError as end:
            self._set_result("not_run", str(end))
        except (KeyboardInterrupt, SystemExit) as end:
            self._set_result("broken", f"ends the program: {type(end).__name__} {end}")
        except BaseException as error:  # noqa: BLE001  (an error of the package is a result)
            traceback.print_exc()
            self._set_result("broken", f"{type(error).__name__}: {str(error).strip()[:500]}")

    def _run(self) -> None:
        names = [name for name in self.request["modules"] if is_installed(name)]
        if not names:
            return self._set_result("absent", "is not installed")
        probe = load_payload(f"probes/{self.request['probe']}") if self.request["probe"] else None
        torch = import_torch()
        if torch is not None:
            self.answer["facts"]["gpu"] = torch.cuda.is_available()
        if probe is not None and not self._can_run(torch, probe):
            return None
        before = self.tools.loaded_libraries()
        modules = [importlib.import_module(name) for name in names]
        self.answer["modules"] = [describe_module(module, self.request["roots"]) for module in modules]
        stand_in = next((item["stands_in"] for item in self.answer["modules"] if item["stands_in"]), "")
        if stand_in:
            return self._set_result("fallback", f"replaced by rocm3d: {stand_in}")
        if probe is None:
            return self._set_result("imported", "")
        return self._run_probe(probe, torch, modules, before)

    def _can_run(self, torch: Any, probe: Any) -> bool:
        """False if torch or a GPU is missing; the reason is then in `answer`."""
        if torch is None and getattr(probe, "NEEDS_TORCH", True):
            self._set_result("not_run", "torch is not installed")
        elif torch is not None and self.request["device"] == "cuda" and not torch.cuda.is_available():
            kind = "" if torch.version.hip else " (not a ROCm build)"
            self._set_result("not_run", f"torch {torch.__version__}{kind} sees no GPU")
        else:
            return True
        return False

    def _run_probe(self, probe: Any, torch: Any, modules: list[Any], before: set[str]) -> None:
        session = self.tools.ProbeSession(self.request, torch, modules, load_payload)
        try:
            probe.check(session)
        finally:
            native = getattr(probe, "NATIVE", ())
            self.answer["libraries"] = sorted(self._own_libraries(self.tools.loaded_libraries() - before, native))
            self.answer["kernels"] = None if session.kernels is None else sorted(session.kernels)
            self.answer["checks"] = session.checks
            self.answer["evidence"] = session.evidence
            self.answer["facts"].update(session.facts)
        wrong = [f"{check['name']} {check['reason']}" for check in session.checks if not check["agrees"]]
        if wrong:
            self._set_result("broken", "; ".join(wrong))
        elif session.evidence == "library" and not self.answer["libraries"]:
            self._set_result("fallback", "none of its compiled libraries is loaded")
        else:
            self._set_result("accelerated", "")

    def _own_libraries(self, libraries: set[str], native: tuple[str, ...]) -> set[str]:
        """Libraries in the package's folders, and those with a name in `native` anywhere."""
        files = {item["file"] for item in self.answer["modules"]}
        folders = [str(Path(file).parent) for file in files if Path(file).stem == "__init__"]
        return {
            path
            for path in libraries
            if path in files
            or Path(path).name.split(".")[0] in native
            or any(_is_below(path, home) for home in folders)
        }

    def _set_result(self, outcome: str, reason: str) -> None:
        self.answer.update(outcome=outcome, reason=reason)


def main() -> None:
    """Print the result on stdout; other output of the process goes to stderr."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    faulthandler.enable()
    sys.path[:] = [entry for entry in sys.path if not entry or Path(entry).resolve() != PAYLOAD_FOLDER]
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    probe = BackendProbe(request)
    probe.run()
    output.write(json.dumps(probe.answer) + "\n")
    output.flush()
    sys.stdout.flush()
    sys.stderr.flush()
    # Skip the interpreter's shutdown: libraries that crash there must not hide the result.
    os._exit(0)


if __name__ == "__main__":
    main()
