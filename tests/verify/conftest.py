"""Small trees and hand-made documents for the probes, and an index of tiny wheels on loopback."""

from __future__ import annotations

import contextlib
import io
import os
import tarfile
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from rocm3d.model.finding import Finding
from rocm3d.model.inventory import FileCounts, Inventory, Scan
from rocm3d.model.patch import FileChange, Patch, Proof, RefusedEdit
from rocm3d.model.plan import DependencyDecision, Plan, PlannedEdit
from rocm3d.model.target import Gpu
from rocm3d.verify.probe import Case, Network
from rocm3d.workspace.journal import digest
from rocm3d.workspace.tree import Tree

GPU = Gpu(gfx="gfx942", product="mi300x", title="MI300X", wave_size=64, vram_gb=192)


def finding(path: str, code: str = "CU201") -> Finding:
    return Finding(
        code=code, rule="missing_header", severity="error", path=path, line=1, column=1, message="m", hint="h"
    )


def change(path: str, before: bytes | None, after: bytes) -> FileChange:
    return FileChange(
        path=path,
        kind="added" if before is None else "edited",
        before=None if before is None else digest(before),
        after=digest(after),
        recipes=() if before is None else ("header",),
        proof=Proof(kind="added-file", holds=True, detail="d"),
        diff="",
    )


@pytest.fixture
def case(tmp_path, knowledge):
    """A case with these changes (path, before, after), files of the tree, and findings of the current scan."""

    def make(changes=(), tree=None, originals=None, planned=(), findings=(), refused=(), dry_run=False) -> Case:
        files = {path: after for path, _, after in changes} if tree is None else tree
        for path, data in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(data)
        edits = tuple(
            PlannedEdit(
                recipe="header",
                rewrite="guard_include",
                parameters={},
                safety="safe",
                path=path,
                findings=(finding(path),),
            )
            for path in planned
        )
        plan = Plan(
            repository="r",
            gpu=GPU,
            stack=None,
            base=None,
            rejected_stacks=(),
            decisions=(),
            edits=edits,
            answered=(),
            left=(),
            readiness="needs-edits",
            knowledge_date="2026-11-15",
        )
        patch = Patch(
            repository="r",
            folder="rocm-port",
            dry_run=dry_run,
            changes=tuple(change(*item) for item in changes),
            refused=tuple(RefusedEdit(path=path, recipe="header", reason="no") for path in refused),
            left=(),
        )
        inventory = Inventory(
            repository="r",
            counts=FileCounts(files=0, bytes=0, python=0, cuda=0, manifests=0),
            dependencies=(),
            extensions=(),
            families={},
            skipped=(),
            readiness="ready",
            reasons=(),
        )
        now = Scan(inventory=inventory, findings=tuple(findings))
        known = {path: before for path, before, _ in changes} if originals is None else originals
        return Case(plan, patch, Tree.open(tmp_path), known, now, ("gfx942", "gfx1100"), knowledge)

    return make


@pytest.fixture
def make_finding():
    return finding


class PackageIndex:
    """A package index that a test fills with wheels and sdists."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url

    def wheel(self, name: str, version: str, *requires: str, tag: str = "py3-none-any") -> Path:
        stem = f"{name.replace('-', '_')}-{version}"
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as wheel:
            needs = "".join(f"Requires-Dist: {item}\n" for item in requires)
            head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            wheel.writestr(f"{stem}.dist-info/METADATA", head + needs)
            wheel.writestr(f"{stem}.dist-info/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
            wheel.writestr(f"{stem}.dist-info/RECORD", "")
        return self._add(name, f"{stem}-{tag}.whl", data.getvalue())

    def sdist(self, name: str, version: str, metadata: bool = True, **files: str) -> Path:
        """`files` by name without suffix: pyproject, setup. Without metadata, requirements need a build."""
        stem = f"{name.replace('-', '_')}-{version}"
        data = io.BytesIO()
        named = {"PKG-INFO": f"Metadata-Version: 2.2\nName: {name}\nVersion: {version}\n"} if metadata else {}
        named |= {{"pyproject": "pyproject.toml", "setup": "setup.py"}[key]: text for key, text in files.items()}
        with tarfile.open(fileobj=data, mode="w:gz") as archive:
            for path, text in named.items():
                member = tarfile.TarInfo(f"{stem}/{path}")
                member.size = len(text.encode())
                archive.addfile(member, io.BytesIO(text.encode()))
        return self._add(name, f"{stem}.tar.gz", data.getvalue())

    def _add(self, name: str, file: str, data: bytes) -> Path:
        page = self.folder / "simple" / str(canonicalize_name(name))
        page.mkdir(parents=True, exist_ok=True)
        path = self.folder / "files" / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        with (page / "index.html").open("a", encoding="utf-8") as text:
            text.write(f'<a href="/files/{file.replace("+", "%2B")}">{file}</a>\n')
        return path


class _SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Tests print nothing."""


@contextlib.contextmanager
def serve_folder(folder: Path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_SilentHandler, directory=str(folder)))
    # Interval in seconds at which the server checks for shutdown.
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def no_index_settings(monkeypatch):
    """Disables all index settings of this machine, variables and files of pip and uv."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("XDG_CONFIG_HOME", os.devnull)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def index(tmp_path, monkeypatch, no_index_settings):
    """The only index that pip and uv use."""
    folder = tmp_path / "index"
    (folder / "simple").mkdir(parents=True)
    with serve_folder(folder) as url:
        monkeypatch.setenv("PIP_INDEX_URL", f"{url}/simple")
        yield PackageIndex(folder, f"{url}/simple")


@pytest.fixture
def stack(knowledge):
    return knowledge.stacks["rocm-6.4.3-torch-2.6-py3.12"]


def decision(name: str, kind: str = "keep", **more) -> DependencyDecision:
    return DependencyDecision(
        name=name, package=more.pop("package", None), decision=kind, route=None, reason="r", **more
    )


@pytest.fixture
def make_decision():
    return decision


@pytest.fixture
def ported(case, knowledge, stack):
    """A case with these files and decisions that may use the network."""

    def make(tree=None, decisions=(), resolver="uv", base=stack, refused="") -> Case:
        texts = {path: text.encode() for path, text in (tree or {}).items()}
        plain_case = case(tree=texts)
        plan = plain_case.plan.model_copy(update={"base": base, "decisions": tuple(decisions)})
        network = Network(refused, resolver)
        return Case(
            plan,
            plain_case.patch,
            plain_case.tree,
            plain_case.originals,
            plain_case.current_scan,
            plain_case.targets,
            knowledge,
            network,
        )

    return make
