from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.sdist import manifest
from rocm3d.syntax.isolation import prove
from rocm3d.workspace.tree import Tree

FINE = b"include README.md *.txt\nrecursive-include pkg *.cu\ngraft csrc\nprune docs\n# graft .\ninclude pkg/*.h\n"
GREEDY = ["graft .", "graft *", "global-include *.sh", "recursive-include . *.txt", "graft rocm*", "include */*.txt",
          "include a \\\n rocm-port/x"]  # fmt: skip


def made(tmp_path, data, folder="rocm-port"):
    (tmp_path / "MANIFEST.in").write_bytes(data)
    return manifest(Tree.open(tmp_path), folder)


def test_without_a_manifest_there_is_nothing_to_do(tmp_path):
    assert manifest(Tree.open(tmp_path), "rocm-port") is None


@pytest.mark.parametrize("data", [FINE, b"", b"graft .\0\n", b"nonsense\ngraft\n"])
def test_a_manifest_that_does_not_reach_the_folder_stays(tmp_path, data):
    assert made(tmp_path, data) is None


def test_a_folder_that_is_no_plain_word_stays_out_of_it(tmp_path):
    assert made(tmp_path, b"graft .\n", "my port") is None


@pytest.mark.parametrize("line", GREEDY)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_the_folder_is_left_out_once(tmp_path, line, newline):
    data = line.encode().replace(b"\n", newline)
    for before in (b"include a" + newline + data + newline, b"include a" + newline + data):
        after = made(tmp_path, before)
        block = newline.join([b"# rocm3d begin", b"prune rocm-port", b"# rocm3d end", b""])
        assert after == before.removesuffix(newline) + newline + block
        assert prove("MANIFEST.in", before, after).holds
        assert made(tmp_path, after) is None


@pytest.mark.parametrize(
    "after", [b"graft .\nprune rocm-port\n", b"graft .\n# rocm3d begin\ninclude x\n# rocm3d end\n", b"",
              b"graft .\n# rocm3d begin\nprune a\nprune b\n# rocm3d end\n", b"graft x\n# rocm3d begin\n# rocm3d end\n"],
)  # fmt: skip
def test_anything_else_is_not_proven(after):
    assert not prove("MANIFEST.in", b"graft .\n", after).holds


@given(st.binary(max_size=80))
def test_whatever_the_file_holds_an_edit_is_proven(tmp_path_factory, data):
    after = made(tmp_path_factory.mktemp("m"), data)
    assert after is None or prove("MANIFEST.in", data, after).holds
