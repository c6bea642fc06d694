from __future__ import annotations

import pytest

RULE = "build_isolation"


def dockerfile(command: str) -> str:
    return f"FROM x\nRUN {command}\n"


@pytest.mark.parametrize(
    "command",
    [
        "pip install numpy gsplat",
        "pip install -r requirements.txt",
        "pip install --no-build-isolation git+https://github.com/NVlabs/nvdiffrast.git",
        "pip install ./submodules/nvdiffrast --no-build-isolation",
        "pip install https://host/nvdiffrast-0.3-cp310-cp310-linux_x86_64.whl",
        "pip install ./nvdiffrast-0.3-cp310-cp310-linux_x86_64.whl",
        "pip install git+https://github.com/openai/CLIP.git",
        "pip install -e .",
        "pip uninstall ./nvdiffrast",
        "echo pip install ./submodules/nvdiffrast",
        "python setup.py install",
        "PIP_NO_BUILD_ISOLATION=0 pip install ./submodules/nvdiffrast",
    ],
)
def test_is_not_found_where_nothing_is_to_be_done(places, command):
    assert places(RULE, "Dockerfile", dockerfile(command)) == []


@pytest.mark.parametrize(
    ("command", "severity"),
    [
        ("pip install git+https://github.com/NVlabs/nvdiffrast.git@v0.3", "error"),
        ("pip3 install ./submodules/nvdiffrast", "error"),
        ("FORCE_CUDA=1 python -m pip install -e ./nvdiffrast", "error"),
        ("uv pip install 'nvdiffrast @ git+https://github.com/NVlabs/nvdiffrast.git'", "error"),
        ("pip install submodules/my-rasterizer", "warning"),
        ("pip install ./code", "note"),
    ],
)
def test_severity(findings, command, severity):
    (found,) = findings(RULE, "Dockerfile", dockerfile(command))

    assert (found.line, found.column, found.severity) == (2, 5, severity)


def test_a_command_behind_others_has_its_own_place(places):
    assert places(RULE, "Dockerfile", dockerfile("cd /x && \\\n  pip install ./nvdiffrast")) == [(3, 3)]


def test_message_names_command_and_package(findings):
    (found,) = findings(RULE, "Dockerfile", dockerfile("pip install ./nvdiffrast"))

    assert (found.code, found.package) == ("BLD304", "nvdiffrast")
    assert found.message == "pip install ./nvdiffrast builds nvdiffrast in isolation from the installed torch"
