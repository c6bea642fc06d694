from __future__ import annotations

RULE = "direct_wheel_url"
FLASH = "https://host/v2/flash_attn-2.7.4+cu12torch2.5cxx11abiFALSE-cp310-cp310-linux_x86_64.whl"


def test_message_says_what_the_wheel_fixes(findings):
    (finding,) = findings(RULE, "requirements.txt", f"{FLASH}\n")

    assert (finding.code, finding.severity, finding.package) == ("DEP104", "error", "flash-attn")
    assert finding.message == f"{FLASH} is a prebuilt wheel: a wheel for one CUDA version"
