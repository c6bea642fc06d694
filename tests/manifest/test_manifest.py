from __future__ import annotations

import pytest

from rocm3d.manifest.manifest import (
    ManifestReader,
    Mention,
    ParsedManifest,
    UnreadableManifestError,
    has_name,
    has_suffix,
    manifest_readers,
    read_manifests,
)

INSTALL = b"import os\nos.system('pip install torch')\n"


def kinds_of(path, data, **options):
    return [manifest.kind for manifest in read_manifests(path, lambda _: data, **options)]


def test_the_kind_of_a_reader_is_its_module():
    kinds = [reader.kind for reader in manifest_readers()]

    assert kinds == sorted(kinds)
    assert {"requirements", "setup_py", "binaries"} <= set(kinds)


@pytest.mark.parametrize(
    ("path", "expected"), [("a/b.cfg", True), ("b.cfg", True), ("b.cfg/a", False), ("ab.cfg", False)]
)
def test_has_name(path, expected):
    assert has_name("b.cfg", "c.cfg")(path) is expected


def test_has_suffix():
    matches = has_suffix(".sh", ".zsh")

    assert matches("a/b.zsh")
    assert not matches("a.sh/b.txt")


def test_unreadable_file_has_only_a_reason():
    def parse(path, data):
        raise UnreadableManifestError("is too large")

    reader = ManifestReader("a.kind", has_name("x"), parse)

    assert reader.read("x", b"1") == ParsedManifest("x", "kind", b"1", unread=((1, "is too large"),))


@pytest.mark.parametrize(
    ("path", "data", "expected"),
    [
        ("requirements.txt", b"torch\n", ["requirements"]),
        (".github/workflows/environment.yml", b"dependencies: [torch]\n", ["conda", "workflow"]),
        ("setup.sh", b"a\0b", []),
        ("requirements.txt", None, []),
        ("a.py", INSTALL, ["python_script"]),
        ("a.py", b"import os\n", []),
        ("a.so", b"", []),
    ],
)
def test_manifests_of_a_file(path, data, expected):
    assert kinds_of(path, data) == expected


def test_only_selected_kinds_are_read():
    path, data = ".github/workflows/environment.yml", b"dependencies: [torch]\n"

    assert kinds_of(path, data, is_selected=lambda kind: kind != "workflow") == ["conda"]


def test_a_file_of_no_kind_is_not_read():
    def read(path):
        raise AssertionError(path)

    assert list(read_manifests("a.png", read)) == []


@pytest.mark.parametrize(
    ("section", "expected"),
    [("", True), ("project", True), ("optional", False), ("pdm", False), ("pipenv-category:docs", False)],
)
def test_requirements_of_builds_tests_and_extras_are_not_installed(section, expected):
    assert Mention("a", "a", 1, 1, 1, section=section).is_installed == expected
