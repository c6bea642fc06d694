from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.manifest.manifest import InstallOption, Mention, ParsedManifest, ScriptCommand
from rocm3d.scan.mentions import (
    command_lines,
    is_compiled_wheel,
    is_conda,
    is_from_default_index,
    mentions_with_option,
    options_of,
    package_of,
    reason_for,
    requests_rocm,
    severity_override,
)


def mention(line: int = 1, **arguments: str) -> Mention:
    return Mention("torch", "torch", line, 1, line, **arguments)


def unit(kind: str, *options: InstallOption, data: bytes = b"", mentions: tuple[Mention, ...] = ()) -> ParsedManifest:
    return ParsedManifest("x", kind, data, mentions, options)


def option(url: str, line: int = 1) -> InstallOption:
    return InstallOption((url,), (), line, 1, line)


def test_files_that_install_nothing_give_notes():
    kinds = ("markdown", "workflow", "locks", "requirements", "shell", "conda", "notebook")
    assert [severity_override(unit(kind)) for kind in kinds] == ["note", "note", "note", None, None, None, None]


@pytest.mark.parametrize(
    ("section", "expected"), [("", False), ("pip", False), ("conda", True), ("workflow:conda", True)]
)
def test_conda(section, expected):
    assert is_conda(mention(section=section)) is expected


def test_script_options_apply_to_their_command():
    script = unit("shell", option("a", 2), option("b", 4), data=b"pip install torch \\\n -i a\npip install x\n-i b\n")
    assert [entry.urls for entry in options_of(script, mention(1))] == [("a",)]
    assert options_of(script, mention(3)) == []


def test_file_options_apply_to_all_mentions():
    file = unit("requirements", option("a", 9), mentions=(mention(1), mention(2)))
    assert len(options_of(file, mention(1))) == 1
    assert len(mentions_with_option(file, file.options[0])) == 2


def test_mentions_of_an_option_in_a_script():
    script = unit("shell", option("a", 1), data=b"a\nb\n", mentions=(mention(1), mention(2)))
    assert [entry.line for entry in mentions_with_option(script, script.options[0])] == [1]


def test_command_lines():
    script = unit("shell", data=b"a \\\r\nb \\\r\nc\r\nd\r\n")
    assert [command_lines(script, line) for line in (1, 2, 3, 4, 9)] == [(1, 3), (1, 3), (1, 3), (4, 4), (9, 9)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, False),
        ({"version": "==2.4.1+rocm6.1"}, True),
        ({"url": "git+https://github.com/ROCm/x.git"}, True),
        ({"url": "https://host/chip/x"}, False),
        ({"version": "==2.1+cu121"}, False),
    ],
)
def test_requests_rocm(fields, expected):
    assert requests_rocm(unit("shell"), mention(**fields)) is expected


def test_rocm_index():
    assert requests_rocm(unit("requirements", option("https://host/whl/rocm6.4")), mention())


def test_default_index():
    assert is_from_default_index(unit("shell"), mention())
    assert not is_from_default_index(unit("shell"), mention(url="./x"))
    assert not is_from_default_index(unit("requirements", option("https://host")), mention())
    assert is_from_default_index(unit("requirements", InstallOption((), ("base.txt",), 1, 1, 1)), mention())


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://host/x-1-cp310-cp310-linux_x86_64.whl", True),
        ("https://host/x-1-cp310-cp310-linux_x86_64.whl#sha256=1", True),
        ("https://host/x-1-py3-none-any.whl", False),
        ("https://host/x-1.tar.gz", False),
        ("", False),
    ],
)
def test_compiled_wheels(url, expected):
    assert is_compiled_wheel(mention(url=url)) is expected


def test_terms_are_compared_in_canonical_form():
    assert reason_for("Simple_KNN", {"simple-knn": "why"}) == "why"
    assert reason_for("simple", {"simple-knn": "why"}) is None


@pytest.mark.parametrize("line", [b"export PIP_EXTRA_INDEX_URL=a", b"ENV X=1 UV_FIND_LINKS=a"])
def test_environment_option_applies_to_all_commands(line):
    position = InstallOption(("a",), (), 1, line.index(b"PIP" if b"PIP" in line else b"UV") + 1, 1)
    script = unit("shell", position, data=line + b"\npip install torch\n", mentions=(mention(2),))
    assert options_of(script, mention(2)) == [position]
    assert mentions_with_option(script, position) == [mention(2)]


def test_options_of_a_python_call_apply_to_its_arguments():
    calls = (ScriptCommand("pip", ("install", "torch", "-i", "a"), 1, 1), ScriptCommand("pip", ("install", "x"), 9, 1))
    script = replace(unit("python_script", option("a", 5), mentions=(mention(3),)), commands=calls)
    assert options_of(script, mention(3)) == [option("a", 5)]
    assert options_of(script, replace(mention(9), text="x")) == []
    assert mentions_with_option(script, option("a", 5)) == [mention(3)]


@pytest.mark.parametrize(
    ("name", "url", "expected"),
    [
        ("gsplat", "", ("gsplat", "gsplat")),
        ("torchmetrics", "", ("torchmetrics", None)),
        ("b", "git+https://h/o/b@1#subdirectory=sub/gsplat", ("gsplat", "gsplat")),
        ("b", "git+https://h/gsplat/b", ("b", None)),
        ("torch", "./third/nvdiffrast/bindings/torch", ("nvdiffrast", "nvdiffrast")),
        ("torch", "git+https://h/o/nvdiffrast#egg=x&subdirectory=bindings/torch", ("nvdiffrast", "nvdiffrast")),
        ("ops", "./gsplat_like/ops", ("ops", None)),
        ("gsplat", "https://h/xformers/gsplat-1-cp310-cp310-linux_x86_64.whl", ("gsplat", "gsplat")),
        ("rembg", "", ("rembg", None)),
    ],
)
def test_package_of(known, name, url, expected):
    name, package = package_of(Mention(name, name, 1, 1, 1, url=url), known)
    assert (name, package and package.id) == expected


def test_package_of_a_name_with_an_extra(known):
    assert package_of(Mention("rembg", "rembg[gpu]", 1, 1, 1, extras=frozenset({"gpu"})), known)[1].id == "rembg"
