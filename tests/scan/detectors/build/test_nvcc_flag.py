from __future__ import annotations

RULE = "nvcc_flag"
IMPORT = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\n"


def test_message_names_the_whole_flag_and_the_reason_of_its_longest_term(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + 'f = ["-gencode=arch=compute_86,code=sm_86"]\n')

    assert finding.code == "BLD101"
    assert finding.message == (
        "-gencode=arch=compute_86,code=sm_86 is an nvcc-only flag: "
        "it selects NVIDIA architectures; PYTORCH_ROCM_ARCH selects AMD ones"
    )
    assert finding.recipe == "nvcc-flags-by-backend"
