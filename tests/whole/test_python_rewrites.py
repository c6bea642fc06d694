"""Every Python recipe on modules generated from its examples and other code."""

from __future__ import annotations

import ast
import warnings

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from rocm3d.apply.rewrite import RewriteRefusedError, load_rewrite
from rocm3d.knowledge.load import load
from rocm3d.syntax.isolation import prove_isolation

KNOWLEDGE = load()
RECIPES = sorted(
    recipe.id
    for recipe in KNOWLEDGE.recipes.values()
    if recipe.status == "active" and recipe.safety != "manual" and KNOWLEDGE.examples[recipe.id].name.endswith(".py")
)
IMPORTS = st.lists(
    st.sampled_from(
        [
            "import torch",
            "import torch.nn as nn",
            "import torch as t",
            "from torch.utils.cpp_extension import CUDA_HOME",
            "from torch import *",
            "from ops import *",
            "try:\n    import torch\nexcept ImportError:\n    torch = None",
            "def lazy():\n    import torch\n    return torch",
            "is_rocm = torch.version.hip is not None",
            "is_rocm = False",
            "if False:\n    import torch",
        ]
    ),
    max_size=3,
)
# Each kept as it is, odd spaces and all; none is anything that a recipe looks for.
NOISE = (
    "kept_1  =  [ 1,2 ,\t3 ]   # odd",
    "kept_2 = 'caf\u00e9' ; kept_3 = ''",
    "@property\ndef kept_4 ( self ) : return  self",
    "class  Kept_5 :\n\n\n    x:int=1",
    "kept_6 = \\\n    6",
    "# kept_7 \u00fc",
    "if   kept_1 :\n\tkept_8 = 8\nelse :\n\tkept_9 = 9",
    "kept_10 = '''a\n  b\f\n'''",
)


def statements(text: str) -> list[str]:
    """The statements of an example, each with the comments before it."""
    lines, parts, last = text.splitlines(), [], 0
    for node in ast.parse(text).body:
        parts.append("\n".join(lines[last : node.end_lineno]))
        last = node.end_lineno
    return parts


@st.composite
def modules(draw, example: str):
    """Imports, then statements of the example in order with noise in between, with any line ending."""
    parts = [part for part in statements(example) if draw(st.integers(0, 4))]
    noise = draw(st.lists(st.sampled_from(NOISE), unique=True, max_size=4))
    for item in noise:
        parts.insert(draw(st.integers(0, len(parts))), item)
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = "\n".join([*draw(IMPORTS), *parts]) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", newline).encode(), [item.replace("\n", newline) for item in noise]


def parses(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except SyntaxError:
        return False
    return True


def edit_or_unchanged(recipe, data: bytes) -> bytes:
    try:
        return load_rewrite(recipe.rewrite)(data, recipe.parameters)
    except RewriteRefusedError:
        return data


@pytest.mark.parametrize("name", RECIPES)
def test_edit_parses_is_proven_is_idempotent_and_preserves_other_lines(name):
    recipe, example = KNOWLEDGE.recipes[name], KNOWLEDGE.examples[name]
    proven = 0

    @settings(max_examples=20, phases=[Phase.generate])
    @given(modules(example.before.decode()))
    def check(generated):
        nonlocal proven
        data, noise = generated
        if not parses(data):
            return
        try:
            once = load_rewrite(recipe.rewrite)(data, recipe.parameters)
        except RewriteRefusedError:
            return
        assert parses(once)
        assert edit_or_unchanged(recipe, once) == once
        # If the module itself is odd, the proof says why, and apply refuses the edit with that reason.
        proof = prove_isolation("module.py", data, once)
        assert proof.holds or "differs from the original" not in proof.detail, once.decode()
        proven += proof.holds and once != data
        text = once.decode()
        assert sorted(noise, key=text.index) == sorted(noise, key=data.decode().index)

    check()
    assert proven > 0
