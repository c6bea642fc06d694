"""Runs the backend checks of `rocm3d smoke` on a machine with torch and without rocm3d; standard library only.

    OUT=/tmp/out python3 scripts/smoke_device.py [--path FOLDER] [SUITE...]     on that machine: writes $OUT/looks.json
    python scripts/smoke_device.py --judge looks.json > smoke.json              with rocm3d: adds backends and verdicts

`--path` adds a folder of packages before all others, for example tests/payload/fakes to force a fallback.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAYLOAD = ROOT / "src" / "rocm3d" / "payload" / "probe_backend.py"


def read_toml(path: Path) -> dict[str, Any]:
    """Read a file of knowledge/; older interpreters have a TOML reader only inside pip."""
    reader = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "pip._vendor.tomli")
    document: dict[str, Any] = reader.loads(path.read_text(encoding="utf-8"))
    return document


def backend_checks(suite_ids: list[str]) -> Iterator[tuple[dict[str, Any], str, str, list[str]]]:
    """Suite, package, probe and modules of every backend check."""
    for suite in read_toml(ROOT / "knowledge" / "suites.toml")["suites"]:
        if suite_ids and suite["id"] not in suite_ids:
            continue
        for item in suite.get("probes", []):
            yield suite, "", item["probe"], item["modules"]
        for name in suite.get("packages", []):
            package = read_toml(ROOT / "knowledge" / "packages" / f"{name}.toml")
            yield suite, name, package["probe"], package["imports"]


def run_check(
    probe: str, modules: list[str], tolerances: dict[str, list[float]], options: argparse.Namespace
) -> dict[str, Any]:
    """The result of one check; a crash and a hang are results too."""
    request = {"probe": probe, "modules": modules, "device": options.device, "tolerances": tolerances, "roots": []}
    env = dict(os.environ)
    if options.path:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(options.path.resolve()), env.get("PYTHONPATH"))))
    with tempfile.TemporaryDirectory() as folder:
        request_file = Path(folder, "request.json")
        request_file.write_text(json.dumps(request), encoding="utf-8")
        command = [sys.executable, str(PAYLOAD), str(request_file)]
        try:
            ended = subprocess.run(
                command, cwd=folder, env=env, capture_output=True, text=True, timeout=options.seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return {"probe": probe, "outcome": "broken", "reason": f"no response within {options.seconds} s"}
    try:
        response: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        last_line = (ended.stderr.strip().splitlines() or [""])[-1]
        return {"probe": probe, "outcome": "broken", "reason": f"exit code {ended.returncode}: {last_line}"}
    return response


def smoke_document(file: Path) -> str:
    """The document that `rocm3d smoke --format json` would print on that machine."""
    from rocm3d.knowledge.load import load
    from rocm3d.model.backend_check import BackendCheck, Smoke, SuiteChecks
    from rocm3d.verify.backends.environment import with_kernel_evidence

    raw, knowledge = json.loads(file.read_text(encoding="utf-8")), load()
    suites = tuple(
        SuiteChecks(
            suite=suite["suite"],
            title=suite["title"],
            looks=tuple(
                with_kernel_evidence(BackendCheck.model_validate(check), knowledge.backends) for check in suite["looks"]
            ),
        )
        for suite in raw["suites"]
    )
    about = {"machine": raw["machine"], "interpreter": raw["interpreter"], "knowledge_date": str(knowledge.date)}
    return Smoke(suites=suites, **about).to_json()


def main() -> int:
    """Run all checks, or evaluate the results of another machine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*")
    parser.add_argument("--path", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--judge", type=Path)
    options = parser.parse_args()
    if options.judge:
        print(smoke_document(options.judge), end="")
        return 0
    table = read_toml(ROOT / "knowledge" / "tolerances.toml")["tolerances"]
    tolerances = {item["id"]: [item["rtol"], item["atol"]] for item in table}
    suites: dict[str, dict[str, Any]] = {}
    for suite, package, probe, modules in backend_checks(options.suites):
        started = time.monotonic()
        check = {"package": package, **run_check(probe, modules, tolerances, options)}
        check["seconds"] = round(time.monotonic() - started, 2)
        print(f"{check['outcome']:11} {package or probe}: {check.get('reason', '')} ({check['seconds']} s)", flush=True)
        suites.setdefault(suite["id"], {"suite": suite["id"], "title": suite["title"], "looks": []})["looks"].append(
            check
        )
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    document = {"machine": machine, "interpreter": sys.executable, "suites": list(suites.values())}
    path = Path(os.environ.get("OUT", "."), "looks.json")
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
