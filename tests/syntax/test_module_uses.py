from __future__ import annotations

import ast

import pytest

from rocm3d.syntax.module_uses import ModuleUse, declared_exports, may_name, module_uses, torch_folders


def uses(text: str):
    return module_uses("pkg/a.py", ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nprint(torch.version.hip)\n",
        "torch.version.hip = None\n",
        'patch.object(torch.version, "hip", None)\n',
        'monkeypatch.setitem(sys.modules, "torch", None)\n',
        '"torch" in sys.modules\n',
        "self.torch = 1\nself.is_rocm = 2\n",
    ],
)
def test_harmless(text):
    listed = uses(text)
    assert (listed.torch_stubs, listed.hip_patches, listed.patches) == ([], [], [])


@pytest.mark.parametrize(
    "text",
    ["torch.version.hip = '6'\n", "del torch.version.hip\n", "torch.version = x\n", 'patch("torch.version.hip", "6")\n',
     'monkeypatch.setattr(torch.version, "hip", "6")\n'],
)  # fmt: skip
def test_changes_of_hip(text):
    assert uses(text).hip_patches == ["pkg/a.py:1"]


@pytest.mark.parametrize("text", ['sys.modules["torch"] = x\n', 'patch.dict(sys.modules, {"torch": x})\n'])
def test_stand_ins(text):
    assert uses(text).torch_stubs == ["pkg/a.py:1"]


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("import b\nb.torch = x\n", "b"),
        ("from . import b as c\nc.is_rocm = x\n", "b"),
        ('patch("pkg.b.torch")\n', "pkg.b"),
    ],
)
def test_patches_of_modules(text, module):
    assert [use.module for use in uses(text).patches] == [module]


@pytest.mark.parametrize(
    ("module", "level", "path", "expected"),
    [
        ("pkg.b", 0, "src/pkg/b.py", True),
        ("b", 1, "pkg/b.py", True),
        ("", 1, "pkg/__init__.py", True),
        ("b", 2, "b.py", True),
        ("b", 1, "other/b.py", False),
        ("c.b", 0, "pkg/b.py", False),
        ("", 0, "pkg/b.py", False),
    ],
)
def test_modules_by_path(module, level, path, expected):
    assert may_name(ModuleUse("pkg/a.py", 1, module, level), path) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x = 1\n", None), ("__all__ = ['a']\n__all__ += ('b',)\n", {"a", "b"}), ("__all__ = dir()\n", None)],
)
def test_declared_exports(text, expected):
    assert declared_exports(ast.parse(text)) == expected


def test_folders_with_a_torch_module():
    assert torch_folders(["a/torch.py", "torch/__init__.py", "b/my_torch.py"]) == {
        "a": "a/torch.py",
        "": "torch/__init__.py",
    }
