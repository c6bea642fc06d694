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
def test_no_finding_in_unaffected_code(positions, command):
    assert positions(RULE, "Dockerfile", dockerfile(command)) == []


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
    (finding,) = findings(RULE, "Dockerfile", dockerfile(command))

    assert (finding.line, finding.column, finding.severity) == (2, 5, severity)


def test_position_of_a_command_after_others(positions):
    assert positions(RULE, "Dockerfile", dockerfile("cd /x && \\\n  pip install ./nvdiffrast")) == [(3, 3)]


def test_message_names_command_and_package(findings):
    (finding,) = findings(RULE, "Dockerfile", dockerfile("pip install ./nvdiffrast"))

    assert (finding.code, finding.package) == ("BLD304", "nvdiffrast")
    assert finding.message == "pip install ./nvdiffrast builds nvdiffrast in isolation from the installed torch"
