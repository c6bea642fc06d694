from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import scan
from rocm3d.scan.unreached_modules import UnreachedModules
from rocm3d.workspace.result_cache import ResultCache
from rocm3d.workspace.tree import Tree

MODULE = "lib/models/swin/layers.py"
TREE = {
    "lib/__init__.py": "",
    "lib/models/__init__.py": "from .unet import *\n# from .swin import *\n",
    "lib/models/unet.py": "import torch\n",
    "lib/models/swin/__init__.py": "from .layers import Block\n",
    MODULE: '"""Layers."""\nimport spconv\n\n\nclass Block:\n    def forward(self, x):\n        return print(x)\n',
    "train.py": "from lib.models import *\n",
    "scripts/train.sh": "# swin needs more memory\npython train.py\n",
    "README.md": "Uncomment the import of swin in lib/models/__init__.py\n",
}


def is_unreached(changes, path=MODULE):
    files = {name: text for name, text in {**TREE, **changes}.items() if text is not None}
    encoded = {name: text if isinstance(text, bytes) else text.encode() for name, text in files.items()}
    return path in UnreachedModules(frozenset(files), encoded.get)


REACHED = {
    "absolute import": {"train.py": "import lib.models.swin\n"},
    "absolute import of the module": {"train.py": "import lib.models.swin.layers as l\n"},
    "from its parent": {"train.py": "from lib.models import swin\n"},
    "from it": {"train.py": "from lib.models.swin import Block\n"},
    "over two lines": {"train.py": "from lib.models import (\n    unet,\n    swin,\n)\n"},
    "relative import": {"lib/models/unet.py": "from .swin import Block\n"},
    "relative import of the parent": {"lib/engine.py": "from .models.swin.layers import *\n"},
    "star through the parent": {"lib/models/__init__.py": "from .swin import *\n"},
    "star through __all__": {"lib/models/__init__.py": '__all__ = ["swin"]\n'},
    "in a function": {"train.py": "def main():\n    from lib.models.swin import Block\n"},
    "after another folder is on the path": {"train.py": "import layers\n"},
    "in a try": {"train.py": "try:\n    import lib.models.swin\nexcept ImportError:\n    pass\n"},
    "in a test": {"tests/test_swin.py": "from lib.models.swin import Block\n"},
    "string": {"train.py": 'NAME = "swin"\n'},
    "dotted string": {"train.py": 'load("lib.models.swin.Block")\n'},
    "comment line in a string": {"train.py": 'NAME = """\n# swin\n"""\n'},
    "yaml": {"configs/a.yaml": "backbone: swin\n"},
    "json": {"a.json": '{"# model": "lib.models.swin"}'},
    "toml": {"a.toml": 'entry = "lib.models.swin:Block"\n'},
    "shell": {"scripts/train.sh": "python train.py --model swin\n"},
    "notebook": {"a.ipynb": '{"source": ["from lib.models import swin"]}'},
    "embedded": {"a.cpp": 'PyImport_ImportModule("lib.models.swin");\n'},
    "name of its package in a list of plugins": {"settings.py": 'MODULES = ["lib.models"]\n'},
    "name of its package in a configuration": {"a.yaml": 'plugins: "lib.models"\n'},
    "dynamic import in its package": {"lib/models/builder.py": "from importlib import import_module\n"},
    "dynamic import in an outer package": {"lib/__init__.py": "import pkgutil\n"},
    "exec in its package": {"lib/models/__init__.py": "exec(code)\n"},
    "dynamic import of a computed name": {"train.py": 'import importlib\nimportlib.import_module(f"models.{name}")\n'},
    "program": {MODULE: 'import spconv\nif __name__ == "__main__":\n    print(1)\n'},
    "program of its package": {"lib/models/swin/__main__.py": "x = 1\n"},
    "script": {MODULE: "import spconv\nprint(1)\n"},
    "shebang": {MODULE: "#!/usr/bin/env python\nimport spconv\n"},
    "loop": {MODULE: "import spconv\nfor i in range(3):\n    pass\n"},
    "Python 2": {MODULE: "import spconv\nprint 1\n"},
    "installed": {"setup.py": "from setuptools import setup, find_packages\nsetup(packages=find_packages())\n"},
    "installed from the package": {"lib/setup.py": ""},
    "installed by pyproject.toml": {"pyproject.toml": "[project]\nname = 'p'\n"},
    "installed by setup.cfg": {"setup.cfg": "[metadata]\nname = p\n"},
    "not in packages": {"lib/models/swin/__init__.py": None},
    "in a package at the top": {"lib/__init__.py": None, "lib/models/__init__.py": None},
    "a file that is not Python": {"train.py": "from lib import (\n'''swin\n"},
    "text in UTF-16": {"scripts/train.sh": b"\xff\xfes\0w\0i\0n\0"},
}


@pytest.mark.parametrize("changes", REACHED.values(), ids=REACHED)
def test_it_is_reached(changes):
    assert not is_unreached(changes)


def test_a_file_that_cannot_be_read_may_import_it():
    unreadable = UnreachedModules(frozenset(TREE), lambda name: None if name == "train.py" else TREE[name].encode())

    assert MODULE not in unreadable


@pytest.mark.parametrize("path", ["train.py", "README.md", "gone.py", "lib/__init__.py", "lib/models/unet.py"])
def test_programs_and_used_modules_are_reached(path):
    assert not is_unreached({}, path)


UNREACHED = {
    "nothing names it": {},
    "another word": {"train.py": "swin_base = swinger = Swin = 1\n"},
    "comments": {"train.py": "x = 1  # swin\n", "a.yaml": "# swin\nx: 1\n"},
    "settings of tools": {"pyproject.toml": "[tool.ruff]\n", "setup.cfg": "[flake8]\n"},
    "dynamic import of other modules": {"train.py": 'import importlib\nimportlib.import_module("torch")\n'},
    "a picture without a suffix": {"picture": b"\x89PNG\0"},
}


@pytest.mark.parametrize("changes", UNREACHED.values(), ids=UNREACHED)
def test_it_is_unreached(changes):
    assert is_unreached(changes)
    assert is_unreached(changes, "lib/models/swin/__init__.py")


def test_a_single_module_of_a_package_that_is_used():
    assert is_unreached({"lib/models/mink.py": "import spconv\n"}, "lib/models/mink.py")
    assert not is_unreached(
        {"lib/models/mink.py": "import spconv\n", "lib/models/unet.py": "from . import mink\n"}, "lib/models/mink.py"
    )


@given(
    st.sampled_from(sorted(set(TREE) - {MODULE, "lib/models/swin/__init__.py", "README.md"})),
    st.sampled_from(
        ["import lib.models.swin", "from .swin import *", "x = 'swin'", "swin", "eval('lib.models.swin.f')"]
    ),
    st.text("ab \n#'\"(", max_size=20),
)
def test_a_line_that_names_it_reaches_it_in_any_file(path, line, before):
    """Whatever is before the line: also in a string, or after an error of syntax."""
    assert not is_unreached({path: f"{TREE[path]}{before.replace('#', '')}\n{line}\n"})


@given(st.dictionaries(st.sampled_from([*sorted(TREE), "a.yaml", "b.py"]), st.binary(max_size=60)))
def test_no_content_raises(changes):
    is_unreached(changes)


@pytest.fixture
def imported(known, make_package, tmp_path):
    """Scans a tree in which only these modules import a package without a route. Severities by path, and messages."""
    package = make_package("spconv", "spconv", "blocked").model_copy(update={"imports": ("spconv",)})
    knowledge = replace(known, packages={"spconv": package})
    cache = ResultCache(tmp_path / "cache")

    def run(*modules, **changes):
        root = tmp_path / "repository"
        for name, text in {**TREE, **{name.replace("__", "."): text for name, text in changes.items()}}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("import spconv\n" if name in modules else text.replace("import spconv\n", ""))
        document = scan(Tree.open(root), knowledge, Selection(only=("cuda_only_import",)), lambda _: None, cache)
        return {finding.path: finding.severity for finding in document.findings}, document

    return run


def test_an_import_in_a_module_that_is_used_stays(imported):
    severities, document = imported("lib/models/unet.py")

    assert severities == {"lib/models/unet.py": "error"}
    assert "no module" not in document.findings[0].message


def test_an_import_in_it_does_not_hide_a_later_one(imported):
    assert imported(MODULE, "train.py")[0] == {MODULE: "note", "train.py": "error"}


def test_an_import_in_it_alone_is_a_note_with_the_reason(imported):
    severities, document = imported(MODULE)

    assert severities == {MODULE: "note"}
    assert document.findings[0].message.endswith("; no module of the repository imports this one")
    assert document.inventory.readiness == "ready"


def test_nothing_is_unreached_if_a_submodule_is_missing(imported, tmp_path):
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / ".gitmodules").write_text('[submodule "a"]\n\tpath = a\n\turl = https://host/a.git\n')

    assert imported(MODULE)[0] == {MODULE: "error"}


def test_a_cached_scan_follows_files_that_no_rule_reads(imported):
    assert imported(MODULE, conf__json='{"model": "unet"}')[0] == {MODULE: "note"}
    assert imported(MODULE, conf__json='{"model": "swin"}')[0] == {MODULE: "error"}
    assert imported(MODULE, conf__json='{"model": "unet"}')[0] == {MODULE: "note"}
