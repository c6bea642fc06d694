from __future__ import annotations

RULE = "uncast_func_attribute"
TEXT = "void f() {\n  cudaFuncSetAttribute(kernel<3>, cudaFuncAttributeMaxDynamicSharedMemorySize, n);\n}\n"


def test_message_names_the_kernel(findings):
    (finding,) = findings(RULE, "a.cu", TEXT)

    assert (finding.code, finding.severity) == ("CU303", "error")
    assert finding.message.startswith("cudaFuncSetAttribute gets the kernel kernel<3> itself;")
    assert finding.hint.startswith("cast it: (const void*)kernel<3>;")
