from __future__ import annotations

import pytest

from rocm3d.manifest.index_uses import index_uses, is_from_index, plain_url
from rocm3d.manifest.manifest import read_manifests

URL = "https://packages.example.com/simple"
UV = f"""
[project]
dependencies = ["a", "b"]
[tool.uv.sources]
A = {{ index = "ours" }}
[[tool.uv.index]]
name = "ours"
url = "{URL}"
explicit = true
"""
POETRY = f"""
[tool.poetry.dependencies]
a = {{ version = "1", source = "ours" }}
b = "1"
[[tool.poetry.source]]
name = "ours"
url = "{URL}"
priority = "supplemental"
"""


def uses(path: str, text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    units = list(read_manifests(path, lambda _: text.encode()))
    return [
        (use.url, use.scope, use.names)
        for unit in units
        for use in index_uses(unit, lambda url: url.startswith("https://pypi.org/"))
    ]


def test_public_indexes_have_no_use():
    assert uses("requirements.txt", "-i https://pypi.org/simple\na\n") == []
    assert uses("Pipfile", '[packages]\na = {version = "*", index = "pypi"}\n') == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("requirements.txt", f"-i {URL}\na\n", (URL, "file", ())),
        ("a.sh", f"pip install -i {URL} a 'b>1'\npip install c\n", (URL, "command", ("a", "b"))),
        ("a.sh", f"uv pip install --index ours={URL} a\n", (URL, "command", ("a",))),
        ("a.sh", f"pip install -i {URL} .\n", (URL, "environment", ())),
        ("a.sh", f"PIP_INDEX_URL={URL} pip install a\n", (URL, "environment", ())),
        ("a.sh", f"pip config set global.extra-index-url {URL}\npip install a\n", (URL, "environment", ())),
        ("a.sh", f"sudo python3 -m pip config --site set site.index_url '{URL}'\n", (URL, "environment", ())),
        ("Dockerfile", f"FROM a\nRUN pip3 config set install.find-links {URL}\n", (URL, "environment", ())),
        (
            "pyproject.toml",
            UV,
            (URL, "named", ("a",)),
        ),
        (
            "pyproject.toml",
            POETRY,
            (URL, "file", ("a",)),
        ),
        ("pyproject.toml", f'[tool.pixi.pypi-options]\nextra-index-urls = ["{URL}"]\n', (URL, "file", ())),
        ("environment.yml", "dependencies:\n  - channel::a\n", ("channel", "named", ("a",))),
    ],
)
def test_an_index_has_its_scope_and_names(path, text, expected):
    assert uses(path, text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        f"pip config get global.index-url {URL}",
        f"pip config set global.proxy {URL}",
        f"git config set global.index-url {URL}",
        "pip config set global.index-url",
        "pip config set",
    ],
)
def test_other_settings_are_no_indexes(text):
    assert uses("a.sh", text) == []


def test_the_requirements_files_of_a_command():
    (unit,) = read_manifests("a.sh", lambda _: f"pip install -i {URL} -r a.txt\npip install -r b.txt".encode())
    assert [use.files for use in index_uses(unit, lambda _: False)] == [("a.txt",)]


def test_what_a_hash_or_a_url_identifies_comes_from_no_index():
    (unit,) = read_manifests("requirements.txt", lambda _: b"a==1 --hash=sha256:00\nb @ https://h/b.whl\nc\n")
    assert [item.name for item in unit.mentions if is_from_index(item)] == ["c"]


@pytest.mark.parametrize(
    ("text", "url"), [(f"ours={URL}", URL), (URL, URL), ("https://h/?a=https://b", "https://h/?a=https://b")]
)
def test_the_name_before_an_index_is_left_out(text, url):
    assert plain_url(text) == url
