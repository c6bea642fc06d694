"""Settings of a repository come from one file, and typos are errors."""

from __future__ import annotations

import pytest

from rocm3d.model.errors import ExitCode, UserError
from rocm3d.workspace.configuration import Configuration, read_configuration
from rocm3d.workspace.tree import Tree


@pytest.fixture
def read(tmp_path):
    """Reads the settings of a tree with these files; underscores in names mean dots."""

    def settings(**files: str | bytes) -> Configuration:
        for name, text in files.items():
            content = text.encode() if isinstance(text, str) else text
            (tmp_path / name.replace("_", ".")).write_bytes(content)
        return read_configuration(Tree.open(tmp_path))

    return settings


@pytest.mark.parametrize("key", ["gpus", "licence_policy", "Gpu"])
def test_unknown_key_is_refused_by_name(read, key):
    with pytest.raises(UserError, match=rf"^rocm3d\.toml: {key}: ") as failure:
        read(rocm3d_toml=f'{key} = "x"\n')
    assert failure.value.exit_code == ExitCode.USAGE == 2
    assert failure.value.hint == "known keys: gpu, only, skip, licence-policy"


def test_unknown_key_in_pyproject_is_refused_by_name(read):
    with pytest.raises(UserError, match=r"^pyproject\.toml, \[tool\.rocm3d\]: gpus: "):
        read(pyproject_toml='[tool.rocm3d]\ngpus = "x"\n')


@pytest.mark.parametrize("line", ["gpu = 942", 'only = "cuda"', "skip = [1]", "licence-policy = true"])
def test_value_of_the_wrong_kind_is_refused_by_key(read, line):
    with pytest.raises(UserError, match=rf"^rocm3d\.toml: {line.split()[0]}"):
        read(rocm3d_toml=line + "\n")


def test_section_that_is_not_a_table_is_refused(read):
    with pytest.raises(UserError, match=r"^pyproject\.toml, \[tool\.rocm3d\]: "):
        read(pyproject_toml='[tool]\nrocm3d = "mi300x"\n')


def test_both_files_at_once_are_refused(read):
    with pytest.raises(UserError, match=r"both rocm3d\.toml and \[tool\.rocm3d\]") as failure:
        read(rocm3d_toml='gpu = "a"\n', pyproject_toml='[tool.rocm3d]\ngpu = "a"\n')
    assert failure.value.hint == "remove one of them"


@pytest.mark.parametrize("text", ["gpu = \n", b'gpu = "\xff"\n', pytest.param("a = " + "[" * 20_000, id="deep")])
def test_broken_rocm3d_toml_is_refused(read, text):
    with pytest.raises(UserError, match=r"^rocm3d\.toml: "):
        read(rocm3d_toml=text)


@pytest.mark.parametrize("text", ["[tool\n", b"\xff", pytest.param("a = " + "[" * 20_000, id="deep"), "tool = 3\n"])
def test_broken_pyproject_is_ignored(read, text):
    assert read(pyproject_toml=text) == Configuration()


def test_tree_without_settings_has_none(read):
    assert read() == Configuration()
    assert read(pyproject_toml='[project]\nname = "x"\n[tool.ruff]\n') == Configuration()


def test_rocm3d_toml_next_to_a_foreign_pyproject_is_read(read):
    assert read(rocm3d_toml='gpu = "mi300x"\n', pyproject_toml="[tool.ruff]\n").gpu == "mi300x"


@pytest.mark.parametrize(("name", "head"), [("rocm3d_toml", ""), ("pyproject_toml", "[tool.rocm3d]\n")])
def test_values_are_read(read, name, head):
    body = 'gpu = "rx 7900 xtx"\nonly = ["CU104", "DEP101"]\nskip = ["PY101"]\nlicence-policy = "refuse"\n'
    result = read(**{name: head + body})
    assert result.gpu == "rx 7900 xtx"
    assert result.only == ("CU104", "DEP101")
    assert result.skip == ("PY101",)
    assert result.licence_policy == "refuse"
