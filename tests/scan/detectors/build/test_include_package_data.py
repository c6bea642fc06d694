from __future__ import annotations

import pytest

RULE = "include_package_data"
HEAD = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\n"
CALL = "setup(ext_modules=[CUDAExtension('a', ['a.cu'])], include_package_data=True, python_requires='>=3.7')\n"


@pytest.mark.parametrize(
    "text",
    [
        CALL,  # no CUDAExtension
        HEAD.replace("CUDA", "Cpp") + CALL.replace("CUDA", "Cpp"),
        HEAD + CALL.replace("True", "False"),
        HEAD + CALL.replace("True", "torch.version.hip is None"),
        HEAD + CALL.replace("=True", "=WHOLE"),
        HEAD + "WHOLE = True\nif torch.version.hip:\n    WHOLE = False\n" + CALL.replace("=True", "=WHOLE"),
        HEAD + f"if torch.version.hip is None:\n    {CALL}",
        HEAD + f"# {CALL}",
        HEAD + "setup(ext_modules=[CUDAExtension('a', ['a.cu'])])\n",
        HEAD + "setup(include_package_data=",
    ],
)
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "setup.py", text) == []


def test_is_not_looked_for_in_other_files(places):
    assert places(RULE, "setup.txt", HEAD + CALL) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (HEAD + CALL, [(3, 51)]),
        (HEAD + "WHOLE = True\n" + CALL.replace("=True", "=WHOLE"), [(4, 51)]),
        (HEAD + "options = {'include_package_data': True}\nsetup(**options)\n", [(3, 12)]),
        ((HEAD + CALL).replace("\n", "\r\n"), [(3, 51)]),
        (b"# \xff\n" + (HEAD + CALL).encode(), [(4, 51)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "setup.py", text) == where


@pytest.mark.parametrize(
    ("python", "severity"),
    [
        (">=3.7", "warning"),
        ("~=3.6", "warning"),
        (">=3.8", "note"),
        ("", "note"),
        ("not a version", "note"),
        (">=" + "9" * 5000, "note"),
    ],
)
def test_it_matters_where_an_old_torch_may_be_met(findings, python, severity):
    (found,) = findings(RULE, "setup.py", HEAD + CALL.replace(">=3.7", python))

    assert found.severity == severity


def test_message_names_the_version(findings):
    (found,) = findings(RULE, "setup.py", HEAD + CALL)

    assert found.code == "BLD306"
    assert "before torch 2.1" in found.message
