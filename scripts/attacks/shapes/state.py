"""State of ours that comes with the repository: journals, documents, runs, and links in their places."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from attacks.site import INJECTED, Site

DOCUMENTS = (
    "plan.json", "patch.json", "verdicts.json", "evidence.json", "inventory.json", "plan-asked.json",
    "undo/journal.json",
)  # fmt: skip
PLACES = (
    *DOCUMENTS, "port.patch", "report.html", "lock", ".gitignore", "undo", "runs", "install", "documents.json",
    "seal.json",
)  # fmt: skip


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _targets(site: Site) -> list[str]:
    """What a journal may name: git, files outside, links, and files of the repository."""
    site.write("sub/.git", "gitdir: ../.git/modules/sub\n")
    site.link("linked", site.outside)
    return [
        ".git/config", ".git/hooks/post-checkout", ".GIT/config", ".git/../.git/config", "./.git/config", "sub/.git",
        "../outside/notes.txt", str(site.outside / "notes.txt"), "linked/notes.txt", "a/../../outside/notes.txt",
        "setup.py", ".rocm3d/../../outside/notes.txt", ".git", ".gitattributes", "\udce9/../../outside/notes.txt",
    ]  # fmt: skip


def _evil(site: Site, target: str) -> bytes:
    """What the journal calls the original."""
    program = site.program("journal")
    if "config" in target:
        return f"[core]\n\tfsmonitor = {program}\n".encode()
    return f"#!/bin/sh\n{site.shell('journal')}\n".encode()


def _current(site: Site, target: str) -> bytes | None:
    path = Path(os.path.normpath(site.tree / target))
    with contextlib.suppress(OSError):
        return path.read_bytes()
    return None


def journal_of_old_form(site: Site) -> None:
    """A journal as the first version wrote it, with matching originals."""
    target = site.random.choice(_targets(site))
    evil, current = _evil(site, target), _current(site, target)
    after = _digest(current if current is not None else b"")
    folders = [site.random.choice(["", ".git", "../outside", ".git/hooks"])] if site.random.random() < 0.3 else []
    entry = {"before": _digest(evil), "after": after, "folders": folders, "previous": None}
    journal = json.dumps({"entries": {target: entry}}, indent=2)
    site.write(".rocm3d/undo/journal.json", journal)
    site.write(f".rocm3d/undo/{_digest(evil)}", evil)
    site.write(".rocm3d/.gitignore", "*\n")


def journal_that_deletes(site: Site) -> None:
    """It says that files of somebody else were created by apply."""
    target = site.random.choice(_targets(site))
    current = _current(site, target) or b""
    entry = {"before": None, "after": _digest(current), "folders": ["../outside/folder", ".git/refs"], "previous": None}
    site.write(".rocm3d/undo/journal.json", json.dumps({"entries": {target: entry}}))


def journal_of_another_machine(site: Site) -> None:
    """All state of a real port made elsewhere, with one path replaced, and its digests."""
    target = site.random.choice(_targets(site))
    evil, current = _evil(site, target), _current(site, target) or b""
    _copy_forged(site)
    state = site.tree / ".rocm3d"
    patch = json.loads((site.forged / "patch.json").read_bytes())
    edited = next((item for item in patch["changes"] if item["kind"] == "edited"), None)
    if edited is None:
        return
    texts = {json.dumps(edited["path"])[1:-1]: json.dumps(target)[1:-1], edited["after"]: _digest(current)}
    if edited["before"]:
        texts[edited["before"]] = _digest(evil)
    for file in [path for path in state.rglob("*") if path.is_file()]:
        if file.name == edited["before"]:
            file.write_bytes(evil)
            file.rename(file.with_name(_digest(evil)))
        elif file.suffix == ".json":
            text = file.read_text(encoding="utf-8")
            for old, new in texts.items():
                text = text.replace(old, new)
            file.write_text(text, encoding="utf-8")


def whole_port_of_another_machine(site: Site) -> None:
    """Nothing changed: what a repository that was ported elsewhere and committed with --force has."""
    _copy_forged(site)
    shutil.copytree(site.ported, site.tree / "rocm-port", dirs_exist_ok=True)


def documents_with_commands(site: Site) -> None:
    """The documents of another machine, with commands, paths and markup in their texts."""
    _copy_forged(site)
    shutil.rmtree(site.tree / ".rocm3d" / "undo", ignore_errors=True)
    for file in sorted((site.tree / ".rocm3d").rglob("*.json")):
        with contextlib.suppress(ValueError):  # not every file of that name is a document
            document = json.loads(file.read_bytes())
            file.write_text(json.dumps(_poisoned(site, document)), encoding="utf-8")


def plan_with_commands(site: Site) -> None:
    """Only the plan, which apply takes without a new one: each decision installs something else."""
    plan = json.loads((site.forged / "plan.json").read_bytes())
    for decision in plan["decisions"]:
        decision["commands"] = [["pip", "install", f"{INJECTED}-package"], ["sh", "-c", site.shell("plan")]]
        decision["reason"] = f"{INJECTED} <script>{INJECTED}()</script>"
        decision["env"] = {"LD_PRELOAD": f"/{INJECTED}.so"}
    for edit in plan["edits"][:1]:
        edit["path"] = site.random.choice(["../outside/module.py", ".git/config", "/etc/hosts"])
    site.write(".rocm3d/plan.json", json.dumps(plan))


def patch_that_names_other_files(site: Site) -> None:
    """A patch whose folder and changed files are not those of a port."""
    patch = json.loads((site.forged / "patch.json").read_bytes())
    patch["folder"] = site.random.choice(["../outside", ".git", "csrc", "."])
    for change in patch["changes"]:
        change["path"] = site.random.choice(["../outside/notes.txt", ".git/config", "setup.py", f"{INJECTED}.py"])
    site.write(".rocm3d/patch.json", json.dumps(patch))


def evidence_of_success(site: Site) -> None:
    """Everything passed, says the repository."""
    _copy_forged(site)
    shutil.rmtree(site.tree / ".rocm3d" / "undo", ignore_errors=True)
    path = site.tree / ".rocm3d" / "verdicts.json"
    verdicts = json.loads(path.read_bytes())
    for item in verdicts["verdicts"]:
        item["outcome"], item["reason"] = "passed", f"{INJECTED} checked everything"
    path.write_text(json.dumps(verdicts), encoding="utf-8")


def state_file_links_out(site: Site) -> None:
    """One file of the state is a link to a file of somebody else."""
    if site.random.random() < 0.5:
        _copy_forged(site)
    file_name = site.random.choice(PLACES)
    site.link(f".rocm3d/{file_name}", site.random.choice([site.outside / "secret.json", site.outside]))


def state_links_out(site: Site) -> None:
    site.link(".rocm3d", site.random.choice([site.outside, site.outside / "folder", "/nowhere/at/all"]))


def state_file_is_a_pipe(site: Site) -> None:
    """A read or a write would wait for ever."""
    file_name = site.random.choice(PLACES)
    os.mkfifo(site.clear(f".rocm3d/{file_name}"))


def state_file_is_a_folder(site: Site) -> None:
    for file_name in site.random.sample(PLACES, 4):
        with contextlib.suppress(OSError):
            site.clear(f".rocm3d/{file_name}").mkdir()


def state_is_a_file(site: Site) -> None:
    site.write(".rocm3d", INJECTED)


def state_of_odd_bytes(site: Site) -> None:
    """Documents that no parser likes."""
    bombs = (
        b"[" * 200_000, b'{"a":' * 50_000, b"\xff\xfe\0", b"null", b"[]", b'{"schema_version": "99.0"}', b"1e999999",
        b'{"entries": {"a": null}}', b'{"entries": [1]}', b'"\\ud800"', b"9" * 10_000, b"", b'{"schema_version": 1}',
    )  # fmt: skip
    for file_name in site.random.sample(DOCUMENTS, 3):
        site.write(f".rocm3d/{file_name}", site.random.choice(bombs))


def huge_state(site: Site) -> None:
    """A sparse document of 8 GB."""
    with site.clear(f".rocm3d/{site.random.choice(DOCUMENTS)}").open("wb") as stream:
        stream.truncate(8 << 30)


def _copy_forged(site: Site) -> None:
    site.clear(".rocm3d")
    shutil.copytree(site.forged, site.tree / ".rocm3d", symlinks=True)


def _poisoned(site: Site, value: Any, key: str = "") -> Any:
    """A document with other texts here and there."""
    if isinstance(value, dict):
        return {name: _poisoned(site, item, name) for name, item in value.items()}
    if isinstance(value, list):
        if key == "commands":
            return [["sh", "-c", site.shell("document")], [INJECTED]]
        return [_poisoned(site, item, key) for item in value]
    if isinstance(value, str) and site.random.random() < 0.05 and key not in {"schema_version", "gfx"}:
        return site.random.choice([
            f"$({site.shell('document')})", f"<script>{INJECTED}()</script>", "../outside/notes.txt", ".git/config",
            f"'; {site.shell('document')}; '", f"\x1b[2J{INJECTED}", "\u202e", "a" * 100_000,
        ])  # fmt: skip
    return value


SHAPES = (
    journal_of_old_form, journal_that_deletes, journal_of_another_machine, whole_port_of_another_machine,
    documents_with_commands, plan_with_commands, patch_that_names_other_files, evidence_of_success,
    state_file_links_out, state_links_out, state_file_is_a_pipe, state_file_is_a_folder, state_is_a_file,
    state_of_odd_bytes, huge_state,
)  # fmt: skip
