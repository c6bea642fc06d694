"""A path with nothing to scan is refused before anything is written."""

from __future__ import annotations

import pytest

COMMANDS = [
    ("scan",),
    ("scan", "--format", "json", "--quiet"),  # cli/fast_scan.py
    ("scan", "--format", "json", "--quiet", "--no-cache"),
    ("plan", "--gpu", "mi300x"),
    ("apply", "--gpu", "mi300x"),
    ("apply", "--gpu", "mi300x", "--dry-run"),
    ("port", "--gpu", "mi300x"),
    ("fit", "--gpu", "mi300x"),
]
FOLDERS = {
    "nothing": (),
    "text and pictures": ("README.md", "docs/usage.md", "photo.png", "LICENSE", ".github/workflows/a.yml"),
    "state of tools": (".git/HEAD", ".rocm3d/inventory.json", "src/__pycache__/a.pyc"),
    "installed packages": ("package.json", "node_modules/x/a.py", ".venv/pyvenv.cfg", ".venv/lib/a.py"),
}


@pytest.fixture
def put(tmp_path):
    def make(*names):
        root = tmp_path / "folder"
        root.mkdir()
        for name in names:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("")
        return root

    return make


def listed(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*"))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("kind", FOLDERS)
def test_folder_without_source_and_manifest_is_refused(rocm3d, put, command, kind):
    root = put(*FOLDERS[kind])
    before = listed(root)

    ended = rocm3d(command[0], root, *command[1:])

    assert (ended.code, ended.out) == (2, "")
    message, hint = ended.err.splitlines()
    assert message == f"rocm3d: {root} has neither source code nor a manifest"
    assert hint.startswith("  hint: pass the folder of a repository")
    assert before == listed(root)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_path_that_is_a_file_is_refused(rocm3d, tmp_path, command):
    (tmp_path / "setup.py").write_text("")

    ended = rocm3d(command[0], tmp_path / "setup.py", *command[1:])

    assert (ended.code, ended.out) == (2, "")
    message, hint = ended.err.splitlines()
    assert message == f"rocm3d: {tmp_path / 'setup.py'} is not a folder"
    assert hint.startswith("  hint: pass the folder of a")


@pytest.mark.parametrize("name", ["a.cu", "a.py", "requirements.txt", ".gitmodules", "main.c", "notebook.ipynb"])
def test_one_source_or_manifest_is_enough(rocm3d, put, name):
    assert rocm3d("scan", put(name)).code in (0, 1)


def test_a_link_to_source_is_unscanned_and_no_reason_to_refuse(rocm3d, put, tmp_path):
    root = put()
    (tmp_path / "a.cu").write_text("")
    (root / "a.cu").symlink_to("../a.cu")

    ended = rocm3d("scan", root)

    assert ended.code == 0
    assert "not scanned: a.cu is a symlink to a path outside the repository" in ended.err


def test_undo_reads_any_folder(rocm3d, put):
    assert "nothing to undo" in rocm3d("undo", put()).err
