from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.replace_hip_hasattr import edit
from rocm3d.syntax.isolation import prove_isolation

PRESENCE_CHECK = 'hasattr(torch.version, "hip")'


def edited(text: str) -> str:
    before = f"import torch\n{text}\n".encode()
    after = edit(before, {})
    assert edit(after, {}) == after
    ast.parse(after)
    return after.decode().removeprefix("import torch\n").removesuffix("\n")


def test_invalid_python_is_refused():
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
        f"x = {PRESENCE_CHECK} and torch.version.hip",
        f"x = {PRESENCE_CHECK} and torch.version.hip is not None",
        f"if torch.version.hip:\n    x = not {PRESENCE_CHECK}",
        f"note = '{PRESENCE_CHECK}'  # {PRESENCE_CHECK}",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"if {PRESENCE_CHECK}:\n    pass", "if torch.version.hip is not None:\n    pass"),
        (f"if not {PRESENCE_CHECK}:\n    pass", "if torch.version.hip is None:\n    pass"),
        (f"x = a and {PRESENCE_CHECK}", "x = a and torch.version.hip is not None"),
        (f"x = a and not {PRESENCE_CHECK}", "x = a and torch.version.hip is None"),
        (f"x = {PRESENCE_CHECK} == True", "x = (torch.version.hip is not None) == True"),
        (f"x = 1 if {PRESENCE_CHECK} else 2", "x = 1 if (torch.version.hip is not None) else 2"),
        (f"x = -{PRESENCE_CHECK}", "x = -(torch.version.hip is not None)"),
        ("f(hasattr( torch.version ,\n  'hip' ))", "f(torch.version.hip is not None)"),
        (
            f"if {PRESENCE_CHECK}:\n    x = {PRESENCE_CHECK}",
            "if torch.version.hip is not None:\n    x = torch.version.hip is not None",
        ),
    ],
)
def test_checks_the_value(text, expected):
    assert edited(text) == expected


def test_the_edit_is_not_isolated():
    before = f"import torch\nif {PRESENCE_CHECK}:\n    x = 1\n".encode()

    assert not prove_isolation("a.py", before, edit(before, {})).holds


TEMPLATES = st.sampled_from(
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
CHECKS = st.sampled_from([PRESENCE_CHECK, "hasattr(torch . version,'''hip''')", "(hasattr(torch.version, 'hip'))"])


@given(st.lists(st.tuples(TEMPLATES, CHECKS), max_size=5), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_edit_has_the_same_meaning_on_rocm(parts, newline, final):
    """Both checks are true on ROCm, so the trees are equal once each check is replaced by its value."""
    text = "import torch\n" + "\n".join(template.format(check, check) for template, check in parts) + "\n" * final
    data = text.replace("\n", newline).encode()

    after = edit(data, {})

    assert edit(after, {}) == after
    assert after.endswith(newline.encode()) == data.endswith(newline.encode())
    assert ast.dump(ChecksEvaluated().visit(ast.parse(after))) == ast.dump(ChecksEvaluated().visit(ast.parse(data)))


class ChecksEvaluated(ast.NodeTransformer):
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
        values = {"torch.version.hip is not None": True, "torch.version.hip is None": False}
        check = ast.unparse(node)
        return ast.Constant(values[check]) if check in values else node
