from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.requirements import copy_with_replacements, is_requirements, read

HASH = "0" * 64

# One file per entry, with the expected names and their first and last lines.
TABLE: dict[str, tuple[str, list[tuple[str, int, int]]]] = {
    "empty": ("", []),
    "only a newline": ("\n", []),
    "only comments": ("# a\n  # b\n", []),
    "commented requirement": ("# torch==2.1\n", []),
    "bare": ("torch\n", [("torch", 1, 1)]),
    "no newline": ("torch", [("torch", 1, 1)]),
    "pinned": ("torch==2.1.0\n", [("torch", 1, 1)]),
    "local version": ("torch==2.1.0+cu118\n", [("torch", 1, 1)]),
    "spaces": ("torch == 2.1.0 , < 3\n", [("torch", 1, 1)]),
    "indented": ("    torch==2.1\n", [("torch", 1, 1)]),
    "tab": ("\ttorch\n", [("torch", 1, 1)]),
    "upper case": ("Torch\n", [("Torch", 1, 1)]),
    "comment behind": ("torch  # the one\n", [("torch", 1, 1)]),
    "hash without space is no comment": ("torch#x\n", []),
    "blank lines": ("\n\n\ntorch\n\n", [("torch", 4, 4)]),
    "extras": ("ray[default,tune]>=2\n", [("ray", 1, 1)]),
    "marker": ("triton; sys_platform == 'linux'\n", [("triton", 1, 1)]),
    "marker that is false here": ("pywin32; sys_platform == 'win32'\n", [("pywin32", 1, 1)]),
    "extras and marker": ('a[b]>=1; python_version < "3.9"\n', [("a", 1, 1)]),
    "torchmetrics beside torch": (
        "torchmetrics\ntorch\ntorch-scatter\n",
        [("torchmetrics", 1, 1), ("torch", 2, 2), ("torch-scatter", 3, 3)],
    ),
    "same twice": ("torch\ntorch==2\n", [("torch", 1, 1), ("torch", 2, 2)]),
    "hash": (f"torch==2.1 --hash=sha256:{HASH}\n", [("torch", 1, 1)]),
    "hashes with continuation": (
        f"torch==2.1 \\\n    --hash=sha256:{HASH} \\\n    --hash=sha256:{HASH}\nnumpy\n",
        [("torch", 1, 3), ("numpy", 4, 4)],
    ),
    "continuation at the end": ("torch \\\n", [("torch", 1, 1)]),
    "continuation of the version": ("torch==\\\n2.1\nnumpy\n", [("torch", 1, 2), ("numpy", 3, 3)]),
    "continuation cut by a comment": ("torch==2.1 \\\n# why \\\nnumpy\n", [("torch", 1, 2), ("numpy", 3, 3)]),
    "comment with backslash does not continue": ("# a \\\ntorch\n", [("torch", 2, 2)]),
    "editable folder": ("-e ./sub\ntorch\n", [("sub", 1, 1), ("torch", 2, 2)]),
    "editable git with egg": ("-e git+https://host/o/repo.git#egg=gsplat\n", [("gsplat", 1, 1)]),
    "long editable": ("--editable git+https://host/o/repo.git@main#egg=gsplat\n", [("gsplat", 1, 1)]),
    "git with egg": ("git+https://host/o/repo.git@v1#egg=pytorch3d\n", [("pytorch3d", 1, 1)]),
    "git without egg": ("git+https://host/o/simple-knn.git\n", [("simple-knn", 1, 1)]),
    "git with commit": ("git+https://host/o/simple-knn.git@abc123\n", [("simple-knn", 1, 1)]),
    "git over ssh": ("git+ssh://git@host/o/simple-knn.git\n", [("simple-knn", 1, 1)]),
    "git with name": ("gsplat @ git+https://host/o/repo.git@v1\n", [("gsplat", 1, 1)]),
    "wheel URL": ("https://host/whl/torch-2.1.0%2Bcu118-cp310-cp310-linux_x86_64.whl\n", [("torch", 1, 1)]),
    "wheel URL with name": (
        "torch @ https://host/torch-2.1.0%2Bcu118-cp310-cp310-linux_x86_64.whl\n",
        [("torch", 1, 1)],
    ),
    "wheel file": ("./wheels/torch-2.1.0-cp310-cp310-linux_x86_64.whl\n", [("torch", 1, 1)]),
    "nested file": ("-r other.txt\ntorch\n", [("torch", 2, 2)]),
    "constraint file": ("-c other.txt\ntorch\n", [("torch", 2, 2)]),
    "index": ("--index-url https://host/cu118\ntorch\n", [("torch", 2, 2)]),
    "extra index": ("--extra-index-url=https://host/cu118\ntorch\n", [("torch", 2, 2)]),
    "find links": ("-f https://host/whl/torch_stable.html\ntorch\n", [("torch", 2, 2)]),
    "invalid then valid": ("=== what\ntorch\n", [("torch", 2, 2)]),
    "conda line": ("torch=2.1=py310\nnumpy\n", [("numpy", 2, 2)]),
    "unknown option": ("--no-such-option\ntorch\n", [("torch", 2, 2)]),
    "CRLF": ("a\r\nb \\\r\n--hash=sha256:" + HASH + "\r\nc\r\n", [("a", 1, 1), ("b", 2, 3), ("c", 4, 4)]),
    "old Mac newlines": ("a\rb\r", [("a", 1, 1), ("b", 2, 2)]),
    "byte order mark": ("\ufefftorch\nnumpy\n", [("torch", 1, 1), ("numpy", 2, 2)]),
    "coding latin-1": ("# -*- coding: latin-1 -*-\ntorch\n", [("torch", 2, 2)]),
    "umlaut": ("# Größe\ntorch\n", [("torch", 2, 2)]),
}


@pytest.mark.parametrize(("text", "expected"), TABLE.values(), ids=TABLE)
def test_names_and_lines(text, expected):
    result = read("requirements.txt", text.encode())
    assert [(entry.name, entry.line, entry.last_line) for entry in result.mentions] == expected


def test_latin_1_bytes_do_not_raise():
    result = read("requirements.txt", b"# Gr\xf6\xdfe\ntorch==2.1\n# \xff\xfe\nnumpy\n")
    assert [(entry.name, entry.line) for entry in result.mentions] == [("torch", 2), ("numpy", 4)]


@pytest.mark.parametrize(("text", "line"), [("=== what\n", 1), ("torch\n\n)(\n", 3), ("torch=2.1=py310\n", 1)])
def test_invalid_lines_are_reported(text, line):
    result = read("requirements.txt", text.encode())
    assert [number for number, _ in result.unread] == [line]
    assert all(reason and "\n" not in reason for _, reason in result.unread)


def test_file_with_unknown_encoding_is_unread():
    result = read("requirements.txt", b"# -*- coding: klingon -*-\ntorch\n")
    assert result.mentions == ()
    assert len(result.unread) == 1


@pytest.mark.parametrize("separator", ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"])
def test_unusual_separators_do_not_shift_line_numbers(separator):
    result = read("requirements.txt", f"# a{separator}# b\nnumpy\ntorch\n".encode())
    assert [(entry.name, entry.line) for entry in result.mentions] == [("numpy", 2), ("torch", 3)]


def test_parts_of_a_requirement():
    (result,) = read("requirements.txt", b"  ray[tune,default]>=2,<3 ; python_version > '3'\n").mentions
    assert result.extras == {"tune", "default"}
    assert set(result.version.split(",")) == {">=2", "<3"}
    assert result.column == 3
    assert result.url == ""


def test_indexes_and_nested_files_are_options():
    text = b"-i https://a/\n--extra-index-url https://b/\n-f https://c/\n-r base.txt\n-c limits.txt\n"
    options = read("requirements.txt", text).options
    assert [entry.urls for entry in options] == [("https://a/",), ("https://b/",), ("https://c/",), (), ()]
    assert [entry.includes for entry in options] == [(), (), (), ("base.txt",), ("limits.txt",)]
    assert [entry.line for entry in options] == [1, 2, 3, 4, 5]


def test_an_option_over_two_lines_covers_both():
    (option,) = read("requirements.txt", b"--extra-index-url \\\n  https://b/\ntorch\n").options
    assert (option.urls, option.line, option.last_line) == (("https://b/",), 1, 2)


# Nothing is executed, and no other file is opened.


def test_nested_files_are_not_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.txt").write_text("secret\n")
    outside = tmp_path / "absolute.txt"
    outside.write_text("secret\n")
    opened: list[str] = []
    watching = True

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event == "open":
            opened.append(str(arguments[0]))

    sys.addaudithook(hook)
    result = read("requirements.txt", f"-r other.txt\n-c {outside}\n-r /etc/passwd\ntorch\n".encode())
    watching = False
    assert [entry.name for entry in result.mentions] == ["torch"]
    assert not [path for path in opened if "other.txt" in path or "absolute.txt" in path or "passwd" in path]


def test_editable_folders_are_not_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/setup.py").write_text("open('touched', 'w')\nraise SystemExit\n")
    assert [entry.name for entry in read("requirements.txt", b"-e ./sub\n").mentions] == ["sub"]
    assert not (tmp_path / "touched").exists()
    assert not (tmp_path / "sub/touched").exists()


def test_variables_of_the_environment_do_not_leak(monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    result = read(
        "requirements.txt", b"--index-url https://${SECRET_TOKEN}@host/\nx @ https://${SECRET_TOKEN}@host/x.zip\n"
    )
    assert "hunter2" not in repr(result)


# File names.


@pytest.mark.parametrize(
    "path",
    ["setup.py", "notes.txt", "myrequirements.txt", "requirements.md", "requirements/a.md", "a/requirements/b/c.txt"],
)
def test_is_not_requirements(path):
    assert not is_requirements(path)


@pytest.mark.parametrize(
    "path",
    [
        "requirements.txt",
        "requirements-dev.txt",
        "requirements_gpu.in",
        "a/b/constraints.txt",
        "requirements/base.txt",
        "Requirements.txt",
        "dev-requirements.txt",
        "gpu_requirements.in",
    ],
)
def test_is_requirements(path):
    assert is_requirements(path)


# Copies with replaced lines.

SNIPPETS = st.sampled_from(
    [text.removesuffix("\n") for text, _ in TABLE.values() if "\r" not in text]
    + ["torch \\", "-r x.txt \\", "\\", "# \\", ""]
)


@given(st.lists(SNIPPETS, max_size=12), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_a_copy_without_replacement_is_byte_identical(lines, newline, final):
    data = (newline.join(lines).replace("\n", newline) + (newline if final else "")).encode()
    assert copy_with_replacements(read("requirements.txt", data), lambda _: None) == data


@given(st.binary(max_size=80))
def test_a_copy_of_any_bytes_is_byte_identical(data):
    assert copy_with_replacements(read("requirements.txt", data), lambda _: None) == data


@given(st.lists(SNIPPETS, max_size=8))
def test_lines_are_within_the_file(lines):
    data = "\n".join(lines).encode()
    result = read("requirements.txt", data)
    count = len(data.splitlines())
    assert all(1 <= entry.line <= entry.last_line <= max(count, 1) for entry in (*result.mentions, *result.options))


def replace_lines(data: bytes, *lines: int) -> bytes:
    return copy_with_replacements(read("requirements.txt", data), lambda line: "# gone" if line in lines else None)


def test_replaced_mention_includes_continuation_lines():
    data = f"a\ntorch==2.1 \\\n    --hash=sha256:{HASH} \\\n    --hash=sha256:{HASH}\nb  # keep\n".encode()
    assert replace_lines(data, 2) == b"a\n# gone\nb  # keep\n"


def test_replaced_mention_retains_lines_after_its_comment():
    assert replace_lines(b"torch==2.1 \\\n# why \\\nnumpy\n", 1) == b"# gone\nnumpy\n"


def test_replaced_mention_after_unusual_separators():
    data = "# a\f# b\u2028# c\nnumpy\ntorch\n".encode()
    result = read("requirements.txt", data)
    line = next(entry.line for entry in result.mentions if entry.name == "torch")
    assert replace_lines(data, line) == "# a\f# b\u2028# c\nnumpy\n# gone\n".encode()


def test_a_replacement_has_the_newline_of_the_file():
    assert replace_lines(b"a\r\ntorch\r\nb\r\n", 2) == b"a\r\n# gone\r\nb\r\n"


def test_replaced_option_and_invalid_utf8():
    assert replace_lines(b"# \xff\n--index-url https://host/cu118\ntorch", 2) == b"# \xff\n# gone\ntorch"


def test_replace_is_not_called_for_comments_and_blank_lines():
    """It is called for unread lines: pip may accept them after it expands a variable."""
    calls: list[int] = []
    copy_with_replacements(
        read("requirements.txt", b"# c\n\ntorch\n=== bad\n-r x\ntorch==${V} \\\n  --pre\n"), calls.append
    )
    assert calls == [3, 4, 5, 6]
