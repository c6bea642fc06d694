from __future__ import annotations

RULE = "nvml_import"
SAMPLE = "import pynvml\n"


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(3, 1)]


def test_message_names_the_module(findings):
    (finding,) = findings(RULE, "a.py", "from pynvml.smi import nvidia_smi\n")

    assert (finding.code, finding.severity, finding.package) == ("PY401", "error", None)
    assert finding.message == "pynvml is imported at module level; it needs NVIDIA's management library"
