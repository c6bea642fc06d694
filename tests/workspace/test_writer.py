"""Nothing is written outside a tree, and nothing inside it before the journal has the original."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from processes import Program
from waiting import wait_for_line

from rocm3d.model.errors import UserError
from rocm3d.workspace.journal import UndoJournal, digest
from rocm3d.workspace.writer import Writer


def opened(root: Path) -> Writer:
    return Writer(root, UndoJournal.open(root))


def restore(root: Path) -> None:
    """Restores a tree like undo, only from files on disk."""
    journal = UndoJournal.open(root)
    writer = Writer(root, journal)
    for path in journal.entries:
        writer.restore(path, journal.original(path))
    for folder in sorted((f for entry in journal.entries.values() for f in entry.folders), key=len, reverse=True):
        writer.remove_empty(folder)


@contextlib.contextmanager
def full_disk(size: int):
    """Limits the file size: writes fail midway as on a full disk, also for root."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("path", ["../x", "a/../../x", "a/..", "/x", "", ".", "//x"])
def test_path_out_of_the_tree_is_refused(tmp_path, path):
    root = tmp_path / "repo"
    root.mkdir()
    with pytest.raises(UserError, match="is outside the repository"):
        opened(root).write({path: b"new"})
    assert [str(file_path.relative_to(tmp_path)) for file_path in tmp_path.rglob("*")] == ["repo"]


def test_absolute_path_is_refused_even_where_it_could_be_written(tmp_path):
    (tmp_path / "repo").mkdir()
    with pytest.raises(UserError, match="outside the repository"):
        opened(tmp_path / "repo").write({str(tmp_path / "x"): b"new"})
    assert not (tmp_path / "x").exists()


def test_linked_folder_is_refused(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "lib").symlink_to(tmp_path / "outside")
    writer = opened(tmp_path / "repo")
    with pytest.raises(UserError, match="lib is a symlink"):
        writer.write({"lib/x.py": b"new"})
    with pytest.raises(UserError, match="lib is a symlink"):
        writer.restore("lib/x.py", b"new")
    with pytest.raises(UserError, match="lib is a symlink"):
        writer.remove_empty("lib")
    assert list((tmp_path / "outside").iterdir()) == []
    assert writer.journal.entries == {}


def test_linked_file_is_refused_even_if_its_target_is_inside(tmp_path):
    (tmp_path / "a.py").write_bytes(b"old")
    (tmp_path / "b.py").symlink_to("a.py")
    with pytest.raises(UserError, match=r"b\.py is a symlink"):
        opened(tmp_path).write({"b.py": b"new"})
    assert (tmp_path / "a.py").read_bytes() == b"old"


def test_state_folder_that_is_a_link_leads_nothing_out(tmp_path):
    """A hostile repository can contain a link named .rocm3d."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / ".rocm3d").symlink_to(tmp_path / "outside")
    with pytest.raises(UserError, match="symlink"):
        opened(tmp_path / "repo").write({"a.py": b"new"})
    assert list((tmp_path / "outside").iterdir()) == []


def test_folder_in_the_place_of_the_file_is_refused(tmp_path):
    (tmp_path / "requirements.txt").mkdir()
    with pytest.raises(UserError, match=r"requirements\.txt"):
        opened(tmp_path).write({"requirements.txt": b"new"})
    assert UndoJournal.open(tmp_path).entries == {}


def test_file_in_the_place_of_the_folder_is_refused_and_undo_still_works(tmp_path):
    (tmp_path / "a.py").write_bytes(b"old")
    (tmp_path / "rocm-port").write_bytes(b"a file")
    writer = opened(tmp_path)
    writer.write({"a.py": b"new"})
    with pytest.raises(UserError, match="cannot write"):
        writer.write({"rocm-port/README.md": b"new"})
    assert (tmp_path / "a.py").read_bytes() == b"new"
    restore(tmp_path)
    assert (tmp_path / "a.py").read_bytes() == b"old"
    assert (tmp_path / "rocm-port").read_bytes() == b"a file"


def test_tree_that_cannot_be_written_is_refused_in_one_line(reachable, run_unprivileged):
    (reachable / "a.py").write_bytes(b"old")
    output = run_unprivileged(
        "try:\n    writer.Writer(place, journal.UndoJournal.open(place)).write({'a.py': b'new'})\n"
        "except UserError as error:\n    print('refused', '--into' in error.hint)",
        reachable,
    )
    assert output == "refused True\n"


def test_full_disk_leaves_the_tree_and_an_empty_journal(tmp_path):
    (tmp_path / "a.py").write_bytes(b"old")
    writer = opened(tmp_path)
    with full_disk(4096), pytest.raises(UserError, match="nothing was changed"):
        writer.write({"b.py": b"small", "made/a.py": b"n" * 10_000})
    assert (tmp_path / "a.py").read_bytes() == b"old"
    assert not (tmp_path / "b.py").exists()
    assert not (tmp_path / "made").exists()
    assert UndoJournal.open(tmp_path).entries == {}


def test_disk_full_is_one_line_and_no_litter(tmp_path):
    with full_disk(4096), pytest.raises(UserError, match="cannot write"):
        opened(tmp_path).write({"a.py": b"n" * 10_000})
    assert list((tmp_path / ".rocm3d").glob("write-*")) == []


def test_failed_second_write_leaves_bytes_that_the_journal_knows(tmp_path):
    """Bytes unknown to the journal would count as work of the user, and undo would refuse."""
    (tmp_path / "a.py").write_bytes(b"old")
    writer = opened(tmp_path)
    writer.write({"a.py": b"first"})
    with full_disk(4096), pytest.raises((UserError, OSError)):
        writer.write({"a.py": b"n" * 10_000})
    assert (tmp_path / "a.py").read_bytes() == b"first"
    assert digest(b"first") in str(vars(UndoJournal.open(tmp_path).entries["a.py"]))


def test_same_content_is_no_change(tmp_path):
    (tmp_path / "a.py").write_bytes(b"same")
    before = (tmp_path / "a.py").stat()
    opened(tmp_path).write({"a.py": b"same"})
    assert (tmp_path / "a.py").stat() == before
    assert not (tmp_path / ".rocm3d").exists()


def test_folder_with_something_in_it_is_not_removed(tmp_path):
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "theirs.txt").write_bytes(b"mine")
    opened(tmp_path).remove_empty("made")
    assert (tmp_path / "made" / "theirs.txt").read_bytes() == b"mine"


def test_missing_folder_is_no_trouble_to_remove(tmp_path):
    opened(tmp_path).remove_empty("gone/too")
    assert list(tmp_path.iterdir()) == []


def test_file_is_replaced_with_the_same_mode(tmp_path):
    (tmp_path / "run.sh").write_bytes(b"old")
    (tmp_path / "run.sh").chmod(0o750)
    opened(tmp_path).write({"run.sh": b"new"})
    assert (tmp_path / "run.sh").read_bytes() == b"new"
    assert (tmp_path / "run.sh").stat().st_mode & 0o7777 == 0o750


def test_new_file_respects_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        opened(tmp_path).write({"a.txt": b"new"})
    finally:
        os.umask(old)
    assert (tmp_path / "a.txt").stat().st_mode & 0o7777 == 0o640


def test_new_folders_are_created_and_recorded(tmp_path):
    writer = opened(tmp_path)
    writer.write({"a/b/c.txt": b"new"})
    writer.write({"a/b/d.txt": b"new"})
    entries = UndoJournal.open(tmp_path).entries
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == b"new"
    assert sorted(entries["a/b/c.txt"].folders) == ["a", "a/b"]
    assert entries["a/b/d.txt"].folders == []


def test_no_temporary_file_is_left(tmp_path):
    (tmp_path / "a.py").write_bytes(b"old")
    opened(tmp_path).write({"a.py": b"new"})
    names = {file_path.relative_to(tmp_path).as_posix() for file_path in tmp_path.rglob("*") if file_path.is_file()}
    assert names == {
        "a.py", ".rocm3d/.gitignore", ".rocm3d/undo/journal.json", f".rocm3d/undo/{digest(b'old')}",
    }  # fmt: skip


def test_other_names_of_a_hard_linked_file_keep_the_old_bytes(tmp_path):
    (tmp_path / "a.py").write_bytes(b"old")
    (tmp_path / "b.py").hardlink_to(tmp_path / "a.py")
    opened(tmp_path).write({"a.py": b"new"})
    assert (tmp_path / "b.py").read_bytes() == b"old"


def test_two_spellings_of_a_path_share_one_entry(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_bytes(b"old")
    writer = opened(tmp_path)
    writer.write({"src/a.py": b"first"})
    writer.write({"./src//a.py": b"second"})
    restore(tmp_path)
    assert (tmp_path / "src" / "a.py").read_bytes() == b"old"


def test_restored_new_file_is_removed(tmp_path):
    writer = opened(tmp_path)
    writer.write({"a.txt": b"new"})
    writer.restore("a.txt", None)
    writer.restore("a.txt", None)
    assert not (tmp_path / "a.txt").exists()


PATHS = ("a.py", "bin/run.sh", "new/deep/b.txt", "new/c.txt", "made.txt")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # snapshot is a plain function
@given(
    writes=st.lists(st.tuples(st.sampled_from(PATHS), st.binary(max_size=40)), max_size=12),
    reopen=st.booleans(),
)
def test_any_sequence_of_writes_can_be_undone(snapshot, writes, reopen):
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "bin").mkdir()
        (root / "a.py").write_bytes(b"a\r\n\xff")
        (root / "bin" / "run.sh").write_bytes(b"")
        (root / "bin" / "run.sh").chmod(0o755)
        files, folders = snapshot(root), {file_path for file_path in root.rglob("*") if file_path.is_dir()}
        writer = opened(root)
        for path, content in writes:
            writer.write({path: content})
            assert (root / path).read_bytes() == content
            writer = opened(root) if reopen else writer
        restore(root)
        assert snapshot(root) == files
        assert {
            file_path for file_path in root.rglob("*") if file_path.is_dir() and ".rocm3d" not in file_path.parts
        } == folders


CRASH = """
import os, signal, sys
from pathlib import Path
from rocm3d.workspace.journal import FileWrite, UndoJournal
from rocm3d.workspace.writer import Writer

root, moment = Path(sys.argv[1]), sys.argv[2]
journal = UndoJournal.open(root)
writer = Writer(root, journal)
writer.write({"a.py": b"new a"})
writer.write({"made/b.txt": b"new b"})
if moment == "between journal and file":
    journal.record([FileWrite("c.py", (root / "c.py").read_bytes(), b"new c")])
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("moment", ["between two writes", "between journal and file"])
def test_process_killed_halfway_leaves_a_tree_that_can_be_restored(tmp_path, snapshot, moment):
    for name in ("a.py", "c.py"):
        (tmp_path / name).write_bytes(f"old {name}\r\n".encode())
    before = snapshot(tmp_path)
    ended = subprocess.run([sys.executable, "-c", CRASH, str(tmp_path), moment], check=False)
    assert ended.returncode == -9
    assert (tmp_path / "a.py").read_bytes() == b"new a"
    assert snapshot(tmp_path) != before
    restore(tmp_path)
    assert snapshot(tmp_path) == before
    assert not (tmp_path / "made").exists()


def test_process_killed_at_a_random_moment_leaves_whole_files(tmp_path, snapshot):
    """Every file is the old one or a new one, never partial, and all can be restored."""
    (tmp_path / "a.py").write_bytes(b"old")
    before = snapshot(tmp_path)
    script = (
        "import sys\nfrom pathlib import Path\nfrom rocm3d.workspace.journal import UndoJournal\n"
        "from rocm3d.workspace.writer import Writer\nroot = Path(sys.argv[1])\n"
        "writer = Writer(root, UndoJournal.open(root))\nprint('go', flush=True)\n"
        "n = 0\nwhile True:\n    n += 1\n    writer.write({'a.py': bytes([n % 250]) * 200_000})\n"
    )
    for wait in (0.01, 0.05, 0.1):
        with Program([sys.executable, "-c", script, tmp_path], stdout=subprocess.PIPE, text=True) as child:
            wait_for_line(child, "go")
            time.sleep(wait)
        content = (tmp_path / "a.py").read_bytes()
        assert content == b"old" or (len(content) == 200_000 and len(set(content)) == 1)
        restore(tmp_path)
        assert snapshot(tmp_path) == before
