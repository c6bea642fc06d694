from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.git_patch import apply_diff, file_diff, mail_patch, split_by_file

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
}


def git(root, *arguments):
    ended = subprocess.run(["git", "-C", root, *arguments], capture_output=True, check=False, env=ENVIRONMENT)
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout


CHANGES = {
    "plain": ("a.cu", b"int a;\nint b;\n", b"int a;\n#if X\n#endif\nint b;\n"),
    "no final newline": ("a.cu", b"int a;\nint b;", b"int a;\nint c;"),
    "final newline gained": ("a.cu", b"int a;", b"int a;\n"),
    "CRLF": ("a.cu", b"int a;\r\nint b;\r\n", b"int a;\r\n#if X\r\n#endif\r\nint b;\r\n"),
    "not UTF-8": ("a.cu", b"// caf\xe9 \xff\nint b;\n", b"// caf\xe9 \xff\n#if X\n#endif\nint b;\n"),
    "byte order mark": ("a.cu", b"\xef\xbb\xbfint a;\n", b"\xef\xbb\xbfint a;\nint b;\n"),
    "looks like a patch": (
        "a.cu",
        b"-- \n--- a\n+++ b\n@@ -1 +1 @@\n",
        b"-- \n--- a\n++ x\n+++ b\n@@ -1 +1 @@\nFrom x\n",
    ),
    "escape sequences": ("a.cu", b"\x1b[31m\f\t\x00\nx\n", b"\x1b[31m\f\t\x00\ny\n"),
    "a new file": ("rocm-port/a.txt", None, b"a\nb\n"),
    "a new file without final newline": ("rocm-port/a.txt", None, b"a\nb"),
    "a new file with CRLF": ("rocm-port/a.txt", None, b"a\r\nb\r\n"),
    "a new empty file": ("rocm-port/a.txt", None, b""),
    "spaces in the name": ("a folder/x y.cu", b"a\n", b"b\n"),
    "quotes in the name": ('a"b\\c.cu', b"a\n", b"b\n"),
    "other letters in the name": ("größe.cu", b"a\n", b"b\n"),
}


@pytest.fixture(params=CHANGES.values(), ids=CHANGES)
def repository(request, tmp_path):
    """A checkout with the old version, executable, and the change."""
    path, before, after = request.param
    root = tmp_path / "checkout"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "other.txt").write_bytes(b"stays\n")
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if before is not None:
        file.write_bytes(before)
        file.chmod(0o755)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    patch = tmp_path / "port.patch"
    patch.write_bytes(mail_patch("A port", "What it does.\n", [file_diff(path, before, after)]))
    return root, file, before, after, patch


def test_git_apply_gives_the_very_bytes_and_keeps_the_mode(repository):
    root, path, before, after, patch = repository

    git(root, "apply", "--whitespace=nowarn", str(patch))

    assert path.read_bytes() == after
    assert bool(path.stat().st_mode & 0o100) == (before is not None)


def test_git_am_commits_the_very_bytes(repository):
    root, path, before, after, patch = repository

    git(root, "am", "--quiet", "--keep-cr", str(patch))

    assert path.read_bytes() == after
    assert bool(path.stat().st_mode & 0o100) == (before is not None)
    assert git(root, "status", "--porcelain") == b""
    assert git(root, "log", "-1", "--format=%s%n%b").decode().split("\n")[:2] == ["A port", "What it does."]


@pytest.fixture
def carriage_returns(tmp_path):
    """A checkout whose file ends its lines in CRLF, with attributes of git or without, and the patch of it."""

    def make(attributes: str):
        _, before, after = CHANGES["CRLF"]
        root, patch = tmp_path / "checkout", tmp_path / "port.patch"
        root.mkdir()
        git(root, "init", "-q", "-b", "main")
        (root / ".gitattributes").write_text(attributes)
        (root / "a.cu").write_bytes(before)
        git(root, "add", "-A")
        git(root, "commit", "-qm", "start")
        patch.write_bytes(mail_patch("A port", "What it does.\n", [file_diff("a.cu", before, after)]))
        return root, patch, before, after

    return make


@pytest.mark.parametrize(("attributes", "options"), [("", []), ("*.cu text eol=crlf\n", ["--keep-cr"])])
def test_git_am_with_the_wrong_option_for_crlf_changes_nothing(carriage_returns, attributes, options):
    root, patch, before, _ = carriage_returns(attributes)

    ended = subprocess.run(
        ["git", "-C", root, "am", *options, patch], capture_output=True, check=False, env=ENVIRONMENT
    )

    assert ended.returncode != 0
    assert (root / "a.cu").read_bytes() == before
    git(root, "am", "--abort")
    assert git(root, "status", "--porcelain") == b""


@pytest.mark.parametrize(
    ("attributes", "command"),
    [
        ("", ["am", "--keep-cr"]),
        ("", ["apply"]),
        ("*.cu text eol=crlf\n", ["am"]),
        ("*.cu text eol=crlf\n", ["apply"]),
        ("* text=auto\n", ["apply"]),
    ],
)
def test_crlf_survives_with_the_options_that_the_patch_names(carriage_returns, attributes, command):
    root, patch, _, after = carriage_returns(attributes)

    git(root, *command, str(patch))

    assert (root / "a.cu").read_bytes() == after
    assert b"`git am` wants --keep-cr" in patch.read_bytes().partition(b"\n---\n")[2]


def test_a_patch_without_crlf_has_no_crlf_note():
    assert b"keep-cr" not in mail_patch("A port", "What it does.\r\n", [file_diff("a.cu", b"a\n", b"b\rc\n")])


@pytest.mark.parametrize(("path", "before", "after"), CHANGES.values(), ids=CHANGES)
def test_applying_a_diff_gives_the_new_bytes(path, before, after):
    assert apply_diff(before or b"", file_diff(path, before, after)) == after


lines = st.lists(
    st.sampled_from([b"a\n", b"b\r\n", b"-- \n", b"+++ b\n", b"@@ -1 +1 @@\n", b"\\ No\n", b"\xff\n", b"\n"])
)
texts = st.builds(lambda parts, end: b"".join(parts) + end, lines, st.sampled_from([b"", b"end", b"\\"]))


@given(texts, texts)
def test_applying_any_diff_gives_the_new_bytes(before, after):
    assert apply_diff(before, file_diff("a.cu", before, after)) == after


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_applying_a_diff_of_any_bytes_gives_the_new_bytes(before, after):
    assert apply_diff(before, file_diff("a.cu", before, after)) == after


def test_splitting_a_patch_gives_its_diffs():
    changes = {path: file_diff(path, before, after) for path, before, after in CHANGES.values()}

    assert split_by_file(mail_patch("subject", "text", changes.values())) == changes
    assert split_by_file(b"".join(changes.values())) == changes


def test_text_without_a_diff_has_no_parts():
    assert split_by_file(b"") == split_by_file(b"Dear all,\n-- \nme\n") == {}


@given(
    st.dictionaries(
        st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1, max_size=12),
        st.tuples(st.none() | st.binary(max_size=40), st.binary(max_size=40)),
        min_size=1, max_size=4,
    )
)  # fmt: skip
def test_splitting_any_patch_gives_its_diffs(files):
    changes = {path: file_diff(path, before, after) for path, (before, after) in files.items()}

    assert split_by_file(mail_patch("subject", "text", changes.values())) == changes
