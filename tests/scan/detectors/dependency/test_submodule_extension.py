from __future__ import annotations

import pytest

RULE = "submodule_extension"


def modules(*urls: str) -> str:
    return "".join(f'[submodule "m{n}"]\n\tpath = sub/m{n}\n\turl = {url}\n' for n, url in enumerate(urls))


@pytest.mark.parametrize(
    "text",
    [
        "",
        modules("https://host/o/data.git"),
        modules("https://host/o/FlexiCubes.git"),
        modules("https://gitlab.inria.fr/sibr/sibr_core.git"),
        modules("https://host/simple-knn/docs.git"),
        modules("https://host/o/diff-gaussian-rasterization-rocm.git"),
        modules("https://github.com/ROCm/cutlass.git"),
        modules("https://github.com/openai/triton.git"),
        "# " + modules("https://host/o/glm.git").split("\n")[0],
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, ".gitmodules", text) == []


@pytest.mark.parametrize("path", ["gitmodules.txt", "README.md"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, modules("https://host/o/glm.git")) == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (".gitmodules", modules("https://host/o/data.git", "https://host/o/simple-knn.git"), [(4, 1)]),
        ("a/.gitmodules", modules("git@host:g/glm").replace("\n", "\r\n"), [(1, 1)]),
        (".gitmodules", modules("https://host/NVlabs/nvdiffrast.git"), [(1, 1)]),
        ("a.sh", "git clone --recursive https://host/o/diffoctreerast.git /tmp/x\n", [(1, 23)]),
    ],
)
def test_positions(positions, path, text, expected):
    assert positions(RULE, path, text) == expected


def test_message_names_path_and_address(findings):
    (finding,) = findings(RULE, ".gitmodules", modules("https://host/o/simple-knn.git"))

    assert (finding.code, finding.severity) == ("DEP205", "warning")
    assert finding.message == "sub/m0 is a submodule with native code (https://host/o/simple-knn.git)"


def test_header_only_library_is_a_note(findings):
    results = findings(RULE, ".gitmodules", modules("https://host/o/glm.git", "https://host/o/eigen.git"))

    assert [finding.severity for finding in results] == ["note", "note"]
