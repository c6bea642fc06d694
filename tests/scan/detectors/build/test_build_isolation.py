from __future__ import annotations

RULE = "build_isolation"


def dockerfile(command: str) -> str:
    return f"FROM x\nRUN {command}\n"


def test_message_names_command_and_package(findings):
    (finding,) = findings(RULE, "Dockerfile", dockerfile("pip install ./nvdiffrast"))

    assert (finding.code, finding.package) == ("BLD304", "nvdiffrast")
    assert finding.message == "pip install ./nvdiffrast builds nvdiffrast in isolation from the installed torch"
