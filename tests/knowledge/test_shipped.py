from __future__ import annotations

import shutil

import pytest

from rocm3d.knowledge.kinds import KINDS, SCANNED
from rocm3d.knowledge.load import load
from rocm3d.knowledge.shipped import data_folder, fingerprint, paths_of


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(data_folder(), tmp_path / "knowledge")
    return tmp_path / "knowledge"


@pytest.mark.parametrize("kind", SCANNED)
def test_any_byte_of_what_a_scan_consults_counts(copy, kind):
    before = fingerprint([copy])
    place = paths_of(copy, kind)[-1]
    place.write_bytes(place.read_bytes() + b"\n# more\n")

    assert fingerprint([copy]) != before


def test_a_record_more_or_less_counts(copy):
    before = fingerprint([copy])
    (copy / "packages" / "gsplat.toml").unlink()

    assert fingerprint([copy]) != before


def test_other_records_and_places_do_not_count(copy):
    (copy / "families" / "gaussian.toml").unlink()

    assert fingerprint([copy]) == fingerprint([data_folder()])


def test_the_loaded_knowledge_has_the_same_fingerprint():
    assert load().fingerprint == fingerprint([data_folder()])


def test_an_overlay_counts(tmp_path):
    assert fingerprint([data_folder(), tmp_path]) == fingerprint([data_folder()])
    (tmp_path / "packages").mkdir()
    shutil.copy(data_folder() / "packages" / "gsplat.toml", tmp_path / "packages")

    assert load(tmp_path).fingerprint == fingerprint([data_folder(), tmp_path]) != fingerprint([data_folder()])


def test_every_kind_has_files():
    assert all(paths_of(data_folder(), kind) for kind in KINDS)
