from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest
from processes import Program
from waiting import DEADLINE, wait_for_line

from rocm3d.model.errors import UserError
from rocm3d.workspace import tree_lock
from rocm3d.workspace.tree_lock import lock_tree

HOLD = (
    "import sys, pathlib\nfrom rocm3d.workspace.tree_lock import lock_tree\n"
    "with lock_tree(pathlib.Path(sys.argv[1]), 'port', len):\n    print('held', flush=True); sys.stdin.read()\n"
)


def silent(_):
    """Progress that nobody reads."""


def hold(root):
    return Program([sys.executable, "-c", HOLD, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_second_process_is_refused_and_the_holder_is_named(tmp_path):
    with hold(tmp_path) as child:
        wait_for_line(child, "held")
        with pytest.raises(UserError) as failure, lock_tree(tmp_path, "apply", silent, seconds=0.1):
            raise AssertionError("two at once")
    assert f"another rocm3d is working on {tmp_path}: rocm3d port, process {child.pid} on " in failure.value.message
    assert failure.value.hint == "retry when it is done"


def test_second_process_waits_and_says_so(tmp_path):
    with hold(tmp_path) as child:
        wait_for_line(child, "held")

        def release(text):
            messages.append(text)
            child.stdin.close()

        messages = []
        with lock_tree(tmp_path, "apply", release, seconds=DEADLINE):
            pass
    assert messages[0].startswith("waiting: another rocm3d is working on")


def test_lock_of_a_dead_process_is_taken_over(tmp_path):
    with hold(tmp_path) as child:
        wait_for_line(child, "held")
        child.kill()
        child.wait()
        with lock_tree(tmp_path, "apply", silent, seconds=DEADLINE):
            assert b'"apply"' in (tmp_path / ".rocm3d" / "lock").read_bytes()


def test_lock_is_released_after_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError), lock_tree(tmp_path, "apply", silent):
        raise ZeroDivisionError
    with lock_tree(tmp_path, "apply", silent, seconds=0.1):
        pass
    assert (tmp_path / ".rocm3d" / "lock").read_bytes() == b""


def test_lock_of_a_removed_state_folder_is_none(tmp_path):
    """Somebody removes .rocm3d while a command runs: the next one must not lock a file that is gone."""
    with lock_tree(tmp_path, "apply", silent):
        (tmp_path / ".rocm3d" / "lock").unlink()
        with lock_tree(tmp_path, "undo", silent, seconds=0.1):
            assert b'"undo"' in (tmp_path / ".rocm3d" / "lock").read_bytes()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": "x"}', b"\xff" * 9000, b"[" * 4000])
def test_holder_that_cannot_be_read_is_unknown(tmp_path, content):
    with lock_tree(tmp_path, "apply", silent):
        (tmp_path / ".rocm3d" / "lock").write_bytes(content)
        with (
            pytest.raises(UserError, match="unknown process"),
            lock_tree(tmp_path, "apply", silent, seconds=0.01),
        ):
            raise AssertionError("two at once")


def test_holder_is_shown_without_control_characters(tmp_path):
    with lock_tree(tmp_path, "apply", silent):
        text = '{"command": "\\u001b[31mred", "pid": 1, "host": "h\\n", "since": "now"}'
        (tmp_path / ".rocm3d" / "lock").write_text(text)
        with pytest.raises(UserError) as failure, lock_tree(tmp_path, "apply", silent, seconds=0.01):
            raise AssertionError("two at once")
    assert failure.value.message.isprintable()


def test_lock_that_is_a_second_name_of_another_file_is_refused(tmp_path):
    """Archives can contain hard links."""
    (tmp_path / ".rocm3d").mkdir()
    source = tmp_path / "config"
    source.write_text("precious")
    (tmp_path / ".rocm3d" / "lock").hardlink_to(source)
    with pytest.raises(UserError, match="is a second name of another file"), lock_tree(tmp_path, "apply", silent):
        raise AssertionError("locked")
    assert source.read_text() == "precious"


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "link to a folder"])
def test_odd_file_in_the_place_of_the_lock_is_refused(tmp_path, kind):
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / ".rocm3d").mkdir(parents=True)
    lock = root / ".rocm3d" / "lock"
    if kind == "link":
        outside.write_text("precious")
        lock.symlink_to(outside)
    elif kind == "fifo":
        os.mkfifo(lock)
    elif kind == "folder":
        lock.mkdir()
    else:
        outside.mkdir()
        lock.symlink_to(outside)

    with pytest.raises(UserError, match="lock"), lock_tree(root, "apply", silent, seconds=0.1):
        raise AssertionError("locked")
    assert not outside.is_file() or outside.read_text() == "precious"


@pytest.mark.parametrize(
    ("mount", "reason"),
    [
        ("36 35 98:0 / {root} rw,noatime - nfs4 host:/x rw,vers=4.2,local_lock=all", "local_lock=all"),
        ("36 35 98:0 / {root} rw - nfs host:/x rw,nolock", "nolock"),
        ("36 35 98:0 / {root} rw - lustre mgs:/x rw,localflock", "localflock"),
        ("36 35 98:0 / {root} rw - fuse.sshfs host:/x rw", "fuse.sshfs has no locks"),
    ],
)
def test_file_system_without_locks_between_machines_is_refused(tmp_path, monkeypatch, mount, reason):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        f"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n{mount.format(root=str(tmp_path).replace(' ', chr(92) + '040'))}\n"
    )
    monkeypatch.setattr(tree_lock, "_MOUNTS", mounts)

    with pytest.raises(UserError, match=reason) as failure, lock_tree(tmp_path, "apply", silent):
        raise AssertionError("locked")
    assert "--into" in failure.value.hint
    assert not (tmp_path / ".rocm3d").exists()


@pytest.mark.parametrize("options", ["rw,vers=4.2,local_lock=none", "rw"])
def test_network_file_system_with_locks_is_locked(tmp_path, monkeypatch, options):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"bad line\n36 35 98:0 / {tmp_path} rw shared:1 - nfs4 host:/x {options}\n")
    monkeypatch.setattr(tree_lock, "_MOUNTS", mounts)

    with lock_tree(tmp_path, "apply", silent):
        pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_error_of_the_file_system_is_one_line(tmp_path, monkeypatch, number):
    def refuse(_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(tree_lock, "try_lock", refuse)
    with pytest.raises(UserError, match="cannot be locked"), lock_tree(tmp_path, "apply", silent):
        raise AssertionError("locked")


def test_state_folder_that_is_a_file_is_one_line(tmp_path):
    (tmp_path / ".rocm3d").write_text("")
    with (
        pytest.raises(UserError, match=r"cannot write .*File exists; nothing was changed"),
        lock_tree(tmp_path, "x", silent),
    ):
        raise AssertionError("locked")


def test_full_disk_keeps_the_lock(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with lock_tree(tmp_path, "apply", silent):
        monkeypatch.undo()
        with pytest.raises(UserError, match="unknown process"), lock_tree(tmp_path, "undo", silent, seconds=0.01):
            raise AssertionError("two at once")
