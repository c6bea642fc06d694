from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.replace_hip_hasattr import edit
from rocm3d.syntax.isolation import prove_isolation

ASKED = 'hasattr(torch.version, "hip")'


def edited(text: str) -> str:
    before = f"import torch\n{text}\n".encode()
    after = edit(before, {})
    assert edit(after, {}) == after
    ast.parse(after)
    return after.decode().removeprefix("import torch\n").removesuffix("\n")


def test_what_does_not_parse_is_refused():
    with pytest.raises(RewriteRefusedError, match="does not parse"):
        edit(b"if hasattr(:\n", {})


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.version.hip is not None",
        "x = hasattr(torch.version, 'cuda')",
        "x = hasattr(torch.version, name)",
        "x = hasattr(torch.version, 'h' 'ip')",
        "x = hasattr(torch.version, b'hip')",
        "x = hasattr(torch, 'hip')",
        "x = hasattr(other.version, 'hip')",
        "x = hasattr(*torch.version, 'hip')",
        "x = hasattr(torch.version)",
        "x = mine.hasattr(torch.version, 'hip')",
        f"x = {ASKED} and torch.version.hip",
        f"x = {ASKED} and torch.version.hip is not None",
        f"if torch.version.hip:\n    x = not {ASKED}",
        f"note = '{ASKED}'  # {ASKED}",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"if {ASKED}:\n    pass", "if torch.version.hip is not None:\n    pass"),
        (f"if not {ASKED}:\n    pass", "if torch.version.hip is None:\n    pass"),
        (f"x = a and {ASKED}", "x = a and torch.version.hip is not None"),
        (f"x = a and not {ASKED}", "x = a and torch.version.hip is None"),
        (f"x = {ASKED} == True", "x = (torch.version.hip is not None) == True"),
        (f"x = 1 if {ASKED} else 2", "x = 1 if (torch.version.hip is not None) else 2"),
        (f"x = -{ASKED}", "x = -(torch.version.hip is not None)"),
        ("f(hasattr( torch.version ,\n  'hip' ))", "f(torch.version.hip is not None)"),
        (f"if {ASKED}:\n    x = {ASKED}", "if torch.version.hip is not None:\n    x = torch.version.hip is not None"),
    ],
)
def test_the_value_is_asked_for(text, wanted):
    assert edited(text) == wanted


def test_no_proof_holds_so_it_stays_advice():
    before = f"import torch\nif {ASKED}:\n    x = 1\n".encode()

    assert not prove_isolation("a.py", before, edit(before, {})).holds


PLACES = st.sampled_from(
    [
        "if {}:\n    a()\nelif not {}:\n    b()",
        "x = {}",
        "def f(y={}):\n    return {}",
        "f({}, k={})",
        "assert {}",
        "x = 1 if {} else 2",
        "while a or {}:\n    break",
        "x = lambda: {}",
        "x = not {}",
        "x = {} == {}",
        'x = f"""{{{}}}"""',
        "a()",
        "x = {{'k': {}}}",
        "if torch.version.hip is not None:\n    x = {}",
    ]
)
ASKS = st.sampled_from([ASKED, "hasattr(torch . version,'''hip''')", "(hasattr(torch.version, 'hip'))"])


@given(st.lists(st.tuples(PLACES, ASKS), max_size=5), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_file_means_the_same_where_hip_has_a_value(parts, newline, final):
    """Both checks are true on ROCm, so the trees are equal once each check is replaced by its value."""
    text = "import torch\n" + "\n".join(place.format(asked, asked) for place, asked in parts) + "\n" * final
    data = text.replace("\n", newline).encode()

    after = edit(data, {})

    assert edit(after, {}) == after
    assert after.endswith(newline.encode()) == data.endswith(newline.encode())
    assert ast.dump(Answered().visit(ast.parse(after))) == ast.dump(Answered().visit(ast.parse(data)))


class Answered(ast.NodeTransformer):
    """Replaces both checks by their value in a ROCm build."""

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        negated = isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant)
        return ast.Constant(not node.operand.value) if negated else node

    def visit_Call(self, node):
        self.generic_visit(node)
        return ast.Constant(True) if ast.unparse(node) == "hasattr(torch.version, 'hip')" else node

    def visit_Compare(self, node):
        self.generic_visit(node)
        answers = {"torch.version.hip is not None": True, "torch.version.hip is None": False}
        asked = ast.unparse(node)
        return ast.Constant(answers[asked]) if asked in answers else node
