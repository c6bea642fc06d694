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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, ".gitmodules", text) == []


@pytest.mark.parametrize("path", ["gitmodules.txt", "README.md"])
def test_is_not_looked_for_in_other_files(places, path):
    assert places(RULE, path, modules("https://host/o/glm.git")) == []


@pytest.mark.parametrize(
    ("path", "text", "where"),
    [
        (".gitmodules", modules("https://host/o/data.git", "https://host/o/simple-knn.git"), [(4, 1)]),
        ("a/.gitmodules", modules("git@host:g/glm").replace("\n", "\r\n"), [(1, 1)]),
        (".gitmodules", modules("https://host/NVlabs/nvdiffrast.git"), [(1, 1)]),
        ("a.sh", "git clone --recursive https://host/o/diffoctreerast.git /tmp/x\n", [(1, 23)]),
    ],
)
def test_place(places, path, text, where):
    assert places(RULE, path, text) == where


def test_message_names_path_and_address(findings):
    (found,) = findings(RULE, ".gitmodules", modules("https://host/o/simple-knn.git"))

    assert (found.code, found.severity) == ("DEP205", "warning")
    assert found.message == "sub/m0 is a submodule with native code (https://host/o/simple-knn.git)"


def test_headers_without_kernels_are_a_note(findings):
    found = findings(RULE, ".gitmodules", modules("https://host/o/glm.git", "https://host/o/eigen.git"))

    assert [item.severity for item in found] == ["note", "note"]
