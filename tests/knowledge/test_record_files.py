from __future__ import annotations

import shutil

import pytest

from rocm3d.knowledge.kinds import KINDS, SCAN_KINDS
from rocm3d.knowledge.load import load
from rocm3d.knowledge.record_files import data_folder, record_paths, scan_fingerprint


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(data_folder(), tmp_path / "knowledge")
    return tmp_path / "knowledge"


@pytest.mark.parametrize("kind", SCAN_KINDS)
def test_fingerprint_depends_on_every_scanned_file(copy, kind):
    before = scan_fingerprint([copy])
    path = record_paths(copy, kind)[-1]
    path.write_bytes(path.read_bytes() + b"\n# more\n")

    assert scan_fingerprint([copy]) != before


def test_fingerprint_depends_on_the_set_of_records(copy):
    before = scan_fingerprint([copy])
    (copy / "packages" / "gsplat.toml").unlink()

    assert scan_fingerprint([copy]) != before


def test_fingerprint_ignores_other_records_and_locations(copy):
    (copy / "families" / "gaussian.toml").unlink()

    assert scan_fingerprint([copy]) == scan_fingerprint([data_folder()])


def test_the_loaded_knowledge_has_the_same_fingerprint():
    assert load().fingerprint == scan_fingerprint([data_folder()])


def test_fingerprint_depends_on_the_overlay(tmp_path):
    assert scan_fingerprint([data_folder(), tmp_path]) == scan_fingerprint([data_folder()])
    (tmp_path / "packages").mkdir()
    shutil.copy(data_folder() / "packages" / "gsplat.toml", tmp_path / "packages")

    assert (
        load(tmp_path).fingerprint == scan_fingerprint([data_folder(), tmp_path]) != scan_fingerprint([data_folder()])
    )


def test_every_kind_has_files():
    assert all(record_paths(data_folder(), kind) for kind in KINDS)
