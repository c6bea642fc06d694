"""State of rocm3d that came with a repository decides nothing, and two commands at once lose nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys

import pytest

from rocm3d.workspace.journal import FileWrite, UndoJournal

PLANNED = ("--gpu", "mi300x", "--until", "planned")
EVIL = b"[core]\n\tfsmonitor = touch ran\n"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def cloned(example):
    """A clone of a repository, without .rocm3d."""
    root = example("deform-op")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(root)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    return root


def plant_journal(root, name, seal=None):
    """A journal as `apply` would leave it, so that `undo` would write EVIL to a path."""
    target, folder = root / name, root / ".rocm3d" / "undo"
    folder.mkdir(parents=True)
    (folder / sha256(EVIL)).write_bytes(EVIL)
    entry = {"before": sha256(EVIL), "after": sha256(target.read_bytes()), "folders": [], "previous": None}
    (folder / "journal.json").write_text(json.dumps({"entries": {name: entry}, "seal": seal or "0" * 64}))


@pytest.mark.parametrize("name", [".git/config", "setup.py", "../outside.txt"])
def test_undo_does_not_trust_a_journal_that_came_with_the_repository(rocm3d, cloned, snapshot, name):
    (cloned.parent / "outside.txt").write_text("precious")
    plant_journal(cloned, name)
    before, config = snapshot(cloned), (cloned / ".git" / "config").read_bytes()

    for words in (["undo", cloned], ["port", cloned, "--gpu", "mi300x"], ["apply", cloned, "--gpu", "mi300x"]):
        ended = rocm3d(*words)
        assert ended.code == 2, words
        assert "Traceback" not in ended.err
    assert snapshot(cloned) == before
    assert (cloned / ".git" / "config").read_bytes() == config
    assert (cloned.parent / "outside.txt").read_text() == "precious"


def test_journal_of_another_machine_is_used_if_the_user_says_so_but_never_for_git(rocm3d, cloned):
    plant_journal(cloned, "setup.py")
    assert rocm3d("undo", cloned).code == 2
    assert rocm3d("undo", cloned, "--trust-journal").code == 0
    assert (cloned / "setup.py").read_bytes() == EVIL

    shutil.rmtree(cloned / ".rocm3d")
    plant_journal(cloned, ".git/config")
    ended = rocm3d("undo", cloned, "--trust-journal")
    assert ended.code == 2
    assert "belongs to git" in ended.err


def test_planted_journal_prevents_no_port_of_a_copy(rocm3d, cloned, tmp_path):
    plant_journal(cloned, "setup.py")

    assert rocm3d("port", cloned, *PLANNED, "--into", tmp_path / "ported").code == 0
    assert rocm3d("undo", tmp_path / "ported").code == 0


@pytest.fixture
def planted_plan(rocm3d, example, tmp_path):
    """A plan.json whose decisions run a command in install.sh, made by another user."""
    root = example("splat-trainer")
    env = {"ROCM3D_DATA": str(tmp_path / "data of somebody else")}
    assert rocm3d("plan", root, "--gpu", "mi300x", "-q", "--output", os.devnull, env=env).code == 0
    path = root / ".rocm3d" / "plan.json"
    plan = json.loads(path.read_text())
    plan["decisions"][0]["commands"] = [["pip", "install", "evil-package"]]
    plan["decisions"][0]["decision"] = "build"
    path.write_text(json.dumps(plan))
    return root


def test_apply_does_not_take_a_plan_that_came_with_the_repository(rocm3d, planted_plan, snapshot):
    before = snapshot(planted_plan)
    ended = rocm3d("apply", planted_plan)

    assert ended.code == 2
    assert "plan.json was changed, or was not written by you on this machine" in ended.err
    assert "--work" in ended.err
    assert snapshot(planted_plan) == before


def test_port_makes_its_own_plan(rocm3d, planted_plan):
    assert rocm3d("port", planted_plan, *PLANNED).code == 0
    assert b"evil-package" not in (planted_plan / "rocm-port" / "install.sh").read_bytes()


def test_plan_that_the_user_names_is_used(rocm3d, planted_plan, tmp_path):
    plan = tmp_path / "plan.json"
    plan.write_bytes((planted_plan / ".rocm3d" / "plan.json").read_bytes())

    assert rocm3d("apply", planted_plan, "--plan", plan).code == 0
    assert b"evil-package" in (planted_plan / "rocm-port" / "install.sh").read_bytes()


@pytest.mark.parametrize("path", ["../setup.py", "/etc/passwd", ""])
def test_named_plan_is_read_as_hostile_input(rocm3d, planted_plan, tmp_path, path):
    plan = json.loads((planted_plan / ".rocm3d" / "plan.json").read_text())
    plan["edits"][0]["path"] = path
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    ended = rocm3d("apply", planted_plan, "--plan", tmp_path / "plan.json")

    assert ended.code == 2
    assert "leads out of the repository" in ended.err


def test_port_made_elsewhere_is_verified_from_a_named_folder(rocm3d, example, tmp_path):
    root = example("splat-trainer")
    env = {"ROCM3D_DATA": str(tmp_path / "data of somebody else")}
    assert rocm3d("port", root, *PLANNED, env=env).code == 0
    refused = rocm3d("verify", root, "--level", "static")
    verified = rocm3d("verify", root, "--level", "static", "--work", root / ".rocm3d")

    assert refused.code == 2
    assert verified.code == 0, verified.err


@pytest.mark.parametrize("command", ["verify", "report", "undo", "upstream"])
def test_documents_that_came_with_the_repository_are_not_believed(rocm3d, example, tmp_path, command):
    root = example("splat-trainer")
    env = {"ROCM3D_DATA": str(tmp_path / "data of somebody else")}
    assert rocm3d("port", root, *PLANNED, env=env).code == 0
    ended = rocm3d(command, root)

    assert ended.code == 2
    assert "was not written by you on this machine" in ended.err.splitlines()[0]
    assert "Traceback" not in ended.err


def test_run_that_came_with_the_repository_is_no_evidence(rocm3d, example, tmp_path):
    root = example("splat-trainer")
    assert rocm3d("port", root, *PLANNED).code == 0
    env = {"ROCM3D_DATA": str(tmp_path / "data of somebody else")}
    run = ["run", "--name", "train", "--", sys.executable, "-c", "print(1)"]
    assert rocm3d(*run, cwd=root, env=env).code == 0
    ended = rocm3d("report", root)

    assert "the run in train is not shown" in ended.err
    assert "was not written by you" in ended.err
    assert rocm3d("run", "--name", "mine", "--", sys.executable, "-c", "print(1)", cwd=root).code == 0
    assert "the run in mine" not in rocm3d("report", root).err


@pytest.mark.parametrize("name", ["plan.json", "patch.json", "inventory.json", "verdicts.json", "evidence.json"])
def test_document_that_is_a_link_out_of_the_repository_is_not_read(rocm3d, example, tmp_path, name):
    root = example("splat-trainer")
    assert rocm3d("port", root, *PLANNED).code == 0
    document = root / ".rocm3d" / name
    document.rename(tmp_path / name)
    document.symlink_to(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    ended = rocm3d("report", root, "--format", "json")

    assert ended.code == 2
    assert f"{name}: is a symlink" in ended.err
    assert rocm3d("port", root, *PLANNED).code in (0, 2)
    assert (tmp_path / name).read_bytes() == content


PAIRS = [
    (["apply"], ["apply", "--safe-only"]),
    (["port"], ["port"]),
    (["port", "--safe-only"], ["apply"]),
    (["apply", "--safe-only"], ["undo"]),
]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_two_commands_at_once_lose_no_original(example, snapshot, first, second):
    root = example("splat-trainer")
    before = snapshot(root)
    program = [sys.executable, "-c", "from rocm3d.cli.main import main; main()"]
    started = []
    for words in (first, second):
        gpu = [] if words[0] == "undo" else ["--gpu", "mi300x", "--yes"]
        command = [*program, words[0], str(root), *words[1:], *gpu, "--quiet"]
        started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    errors = [process.communicate()[1] for process in started]

    assert {process.returncode for process in started} <= {0, 1, 2}, errors
    subprocess.run([*program, "undo", str(root), "--quiet"], check=False, capture_output=True)
    assert snapshot(root) == before


def test_committed_port_keeps_its_originals(example):
    """With --allow-dirty git may never have had them."""
    root = example("deform-op")
    journal = UndoJournal.open(root)
    journal.record([FileWrite("setup.py", b"never committed", (root / "setup.py").read_bytes())])
    retired = journal.retire()

    assert (retired / sha256(b"never committed")).read_bytes() == b"never committed"
