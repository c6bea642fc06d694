from __future__ import annotations

RULE = "gpu_extra"


def test_message_names_the_extra(findings):
    (finding,) = findings(RULE, "requirements.txt", "rembg[gpu,cli]>=2\n")

    assert (finding.code, finding.severity, finding.package) == ("DEP203", "error", "rembg")
    assert finding.message == "rembg[gpu] has an extra that installs CUDA packages: onnxruntime-gpu"
