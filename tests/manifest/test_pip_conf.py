from __future__ import annotations

import pytest

from rocm3d.manifest.pip_conf import read, reader

DATA = b"""# a comment
[global]
timeout = 60
index-url = https://host/simple
extra_index_url =
    https://one/simple
    https://two/simple

[install]
find-links: ./wheels https://files/
trusted-host = https://not.an.index
"""


def test_other_settings_are_no_indexes():
    assert read("pip.conf", b"[global]\ncert = https://host/x\nindex-url\n  https://late/\n").options == ()


def test_a_section_ends_a_value():
    assert read("pip.conf", b"[global]\nindex-url =\n[install]\n  https://host/\n").options == ()


def test_every_index_has_its_position_and_serves_every_install():
    options = read("pip.conf", DATA).options
    assert [(option.urls[0], option.line, option.column) for option in options] == [
        ("https://host/simple", 4, 1),
        ("https://one/simple", 6, 5),
        ("https://two/simple", 7, 5),
        ("./wheels", 10, 1),
        ("https://files/", 10, 1),
    ]
    assert {option.scope for option in options} == {"environment"}
    assert [option.links for option in options] == [False, False, False, True, True]


@pytest.mark.parametrize(("path", "expected"), [("docker/pip.conf", True), ("pip.ini", True), ("pip.cfg", False)])
def test_files_of_pip(path, expected):
    assert reader.matches(path) is expected
