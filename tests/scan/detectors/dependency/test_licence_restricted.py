from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.model.package import Licence
from rocm3d.scan.file_scan import scan_file
from rocm3d.scan.selection import Selection

RULE = "licence_restricted"
LICENCES = {
    "nvdiffrast": Licence(name="NVIDIA Source Code License", note="Non-commercial use."),
    "gsplat": Licence(name="Apache-2.0", note="AMD's additions are MIT."),
    "xformers": Licence(name="BSD-3-Clause"),
}


@pytest.fixture
def notes(known):
    packages = {
        name: package.model_copy(update={"licence": LICENCES.get(name)}) for name, package in known.packages.items()
    }
    knowledge = replace(known, packages=packages)

    def run(path: str, text: str):
        return scan_file(path, text.encode(), knowledge, Selection(only=(RULE,))).findings

    return run


@pytest.mark.parametrize(
    "text",
    ["", "gsplat\nxformers\nflash-attn\nnumpy\n", "# nvdiffrast\n", "numpy  # nvdiffrast\n", "nvdiffrast-like\n"],
)
def test_no_finding_in_unaffected_code(notes, text):
    assert notes("requirements.txt", text) == ()


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("requirements.txt", "numpy\n  nvdiffrast\n", [(2, 3)]),
        ("requirements.txt", "nvdiffrast\nnvdiffrast==1\n", [(1, 1)]),  # one finding per package and file
        ("a.sh", "git clone https://host/NVlabs/nvdiffrast.git\npip install ./nvdiffrast\n", [(1, 11)]),
        (".gitmodules", '[submodule "x"]\n url = https://host/nvdiffrast\n', [(1, 1)]),
    ],
)
def test_positions(notes, path, text, expected):
    assert [(finding.line, finding.column) for finding in notes(path, text)] == expected


def test_message_names_the_licence_and_is_a_note(notes):
    (finding,) = notes("requirements.txt", "nvdiffrast\n")

    assert (finding.code, finding.severity, finding.package) == ("DEP301", "note", "nvdiffrast")
    assert finding.message == "nvdiffrast is under NVIDIA Source Code License: Non-commercial use"
