"""Looks at one package in the environment that it is installed in, and says in one JSON line what was found.

    python probe_backend.py REQUEST.json

The request: `probe` (a file of probes/; empty: import alone), `modules` (its import names), `device`, `tolerances`
(by name: rtol, atol) and `roots` (folders outside the environment that it may come from). Each look is a process: a
package that ends it takes nothing else with it.
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

HERE = Path(__file__).resolve().parent


def load(name: str) -> Any:
    """A script of ours by its path: our folder is not on the path, where probes would shadow what they look at."""
    spec = importlib.util.spec_from_file_location(f"rocm3d_payload_{Path(name).stem}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_there(name: str) -> bool:
    """Whether the top of a module's name can be found at all."""
    top = name.partition(".")[0]
    try:
        return importlib.util.find_spec(top) is not None
    except ValueError:
        return top in sys.modules


def described(module: Any, roots: list[str]) -> dict[str, Any]:
    """Where a module comes from, and whether that is a place for it."""
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    file = next((str(place) for place in places if place), "")
    name = module.__name__
    dists = _distributions().get(name.split(".")[0], [])
    version = metadata.version(dists[0]) if dists else str(getattr(module, "__version__", ""))
    return {
        "name": name,
        "file": file,
        "version": version,
        "distribution": dists[0] if dists else "",
        "origin": _origin(file, dists, roots),
        "stands_in": str(getattr(module, "__rocm3d__", "")),
    }


def _distributions() -> dict[str, list[str]]:
    return dict(metadata.packages_distributions()) if sys.version_info >= (3, 10) else {}


def _origin(file: str, dists: list[str], roots: list[str]) -> str:
    homes = [*site.getsitepackages(), site.getusersitepackages(), sys.prefix, sys.base_prefix]
    if any(_below(file, home) for home in homes):
        return "environment"
    if any(_below(file, root) for root in roots):
        return "repository"
    for dist in dists:
        linked = json.loads(metadata.distribution(dist).read_text("direct_url.json") or "{}")
        if linked.get("dir_info", {}).get("editable") and _below(file, url2pathname(urlsplit(linked["url"]).path)):
            return "editable"
    return "elsewhere"


def _below(file: str, folder: str) -> bool:
    try:
        return Path(file).resolve().is_relative_to(Path(folder).resolve())
    except (OSError, ValueError):
        return False


def torch_here() -> Any:
    """torch, or None."""
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return None
    return torch


class Look:
    """One look at a package: what is found is in `answer` whenever it ends."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.answer: dict[str, Any] = {
            "probe": request["probe"], "outcome": "broken", "reason": "", "evidence": "", "modules": [],
            "libraries": [], "kernels": None, "checks": [], "facts": {},
        }  # fmt: skip
        self.tools = load("bench")

    def take(self) -> None:
        """Fill the answer. Whatever the package does, an answer comes."""
        try:
            self._take()
        except self.tools.Fallback as end:
            self._end("fallback", str(end))
        except self.tools.NotRun as end:
            self._end("not_run", str(end))
        except (KeyboardInterrupt, SystemExit) as end:
            self._end("broken", f"ends the program: {type(end).__name__} {end}")
        except BaseException as error:  # noqa: BLE001  (it is the package's, and the answer)
            traceback.print_exc()
            self._end("broken", f"{type(error).__name__}: {str(error).strip()[:500]}")

    def _take(self) -> None:
        names = [name for name in self.request["modules"] if is_there(name)]
        if not names:
            return self._end("absent", "is not installed")
        probe = load(f"probes/{self.request['probe']}") if self.request["probe"] else None
        torch = torch_here()
        if torch is not None:
            self.answer["facts"]["gpu"] = torch.cuda.is_available()
        if probe is not None and self._cannot(torch, probe):
            return None
        before = self.tools.mapped()
        modules = [importlib.import_module(name) for name in names]
        self.answer["modules"] = [described(module, self.request["roots"]) for module in modules]
        stand_in = next((item["stands_in"] for item in self.answer["modules"] if item["stands_in"]), "")
        if stand_in:
            return self._end("fallback", f"a stand-in is imported: {stand_in}")
        if probe is None:
            return self._end("imported", "")
        return self._use(probe, torch, modules, before)

    def _cannot(self, torch: Any, probe: Any) -> bool:
        """Say why there is nothing to try it on."""
        if torch is None and getattr(probe, "NEEDS_TORCH", True):
            self._end("not_run", "torch is not installed")
        elif torch is not None and self.request["device"] == "cuda" and not torch.cuda.is_available():
            kind = "" if torch.version.hip else ", no ROCm build,"
            self._end("not_run", f"torch {torch.__version__}{kind} sees no GPU")
        else:
            return False
        return True

    def _use(self, probe: Any, torch: Any, modules: list[Any], before: set[str]) -> None:
        bench = self.tools.Bench(self.request, torch, modules, load)
        try:
            probe.look(bench)
        finally:
            native = getattr(probe, "NATIVE", ())
            self.answer["libraries"] = sorted(self._own(self.tools.mapped() - before, native))
            self.answer["kernels"] = None if bench.kernels is None else sorted(bench.kernels)
            self.answer["checks"] = bench.checks
            self.answer["evidence"] = bench.evidence
            self.answer["facts"].update(bench.facts)
        wrong = [f"{check['name']} {check['reason']}" for check in bench.checks if not check["agrees"]]
        if wrong:
            self._end("broken", "; ".join(wrong))
        elif bench.evidence == "library" and not self.answer["libraries"]:
            self._end("fallback", "no compiled library of it is loaded")
        else:
            self._end("accelerated", "")

    def _own(self, libraries: set[str], native: tuple[str, ...]) -> set[str]:
        """Libraries in the package's own folders, and those known to be its own by name wherever they lie."""
        files = {item["file"] for item in self.answer["modules"]}
        folders = [str(Path(file).parent) for file in files if Path(file).stem == "__init__"]
        return {
            path
            for path in libraries
            if path in files or Path(path).name.split(".")[0] in native or any(_below(path, home) for home in folders)
        }

    def _end(self, outcome: str, reason: str) -> None:
        self.answer.update(outcome=outcome, reason=reason)


def main() -> None:
    """Answer the request on stdout; whatever else is printed goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    faulthandler.enable()
    sys.path[:] = [entry for entry in sys.path if not entry or Path(entry).resolve() != HERE]
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    look = Look(request)
    look.take()
    answers.write(json.dumps(look.answer) + "\n")
    answers.flush()
    sys.stdout.flush()
    sys.stderr.flush()
    # Not through the interpreter's own end: libraries that crash there have given their answer already.
    os._exit(0)


if __name__ == "__main__":
    main()
