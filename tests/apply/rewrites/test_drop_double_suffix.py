from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrites.drop_double_suffix import edit


@pytest.mark.parametrize(
    "text", ["int a = 0x1d;\n", "x1.0d;\n", "// 1.0d\n", 'f("1.0d");\n', "int y2d = 1;\n", "a = 1.0f;\n", "a = 2d;\n"]
)
def test_stays_untouched(text):
    assert edit(text.encode(), {}) == text.encode()


@pytest.mark.parametrize(("literal", "plain"), [("1.0d", "1.0"), (".5D", ".5"), ("1e-6d", "1e-6"), ("3.d", "3.")])
def test_removes_the_suffix_on_rocm_only(literal, plain):
    before = f"void f() {{\n  double x = {literal} * 2;\n}}\n".encode()

    after = proven_edit(edit, before, {})

    assert f"  double x = {plain} * 2;\n#else\n  double x = {literal} * 2;\n".encode() in after
