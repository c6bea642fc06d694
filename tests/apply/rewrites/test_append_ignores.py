from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.append_ignores import edit
from rocm3d.syntax.isolation import prove_isolation

HIP = {"patterns": ["*.hip", "*_hip.h", "*_hip.cpp"]}


def test_an_exception_for_hip_files_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"*.o\n!csrc/*.hip\n", HIP)


@pytest.mark.parametrize("text", ["*.hip\n*_hip.h\n*_hip.cpp\n", "*.hip\n*_hip.*\n"])
def test_stays_untouched(text):
    assert edit(text.encode(), HIP) == text.encode()


def test_appends_only_missing_patterns():
    assert edit(b"*.hip\n", HIP) == b"*.hip\n# rocm3d begin\n*_hip.h\n*_hip.cpp\n# rocm3d end\n"


@pytest.mark.parametrize("text", [b"", b"build/\n", b"build/", b"build/\r\n*.so\r\n"])
def test_appends_one_block_at_the_end(text):
    after = edit(text, HIP)

    assert after.startswith(text)
    assert after.count(b"# rocm3d begin") == 1
    assert (after.count(b"\r\n") == after.count(b"\n")) == (b"\r" in text)
    assert prove_isolation(".gitignore", text, after).holds
    assert edit(after, HIP) == after


@given(st.lists(st.sampled_from([b"*.so", b"*.hip", b"# hip", b"build/", b"", b"*_hip.*"]), max_size=6), st.booleans())
def test_any_edit_is_proven_and_idempotent(lines, final_newline):
    before = b"\n".join(lines) + (b"\n" if final_newline else b"")

    proven_edit(edit, before, HIP, ".gitignore")
