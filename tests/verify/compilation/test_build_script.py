from __future__ import annotations

import pytest

from rocm3d.verify.compilation.build_script import SimulatedMachine, run_build_script

AMD = SimulatedMachine(torch="9.9.0", hip="7.7.7", gfx="gfx942", wave=64)
CUDA = SimulatedMachine(torch="9.9.0", hip="", gfx="", wave=32, cuda="13.0")
HEAD = (
    "import os\nimport torch\nfrom setuptools import setup\nfrom torch.utils.cpp_extension import *\n"
    "from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CppExtension, CUDAExtension\n"
)


@pytest.fixture
def run_script(tmp_path):
    def answer(text: str, machine: SimulatedMachine = AMD, script: str = "setup.py", head: str = HEAD):
        tree = tmp_path / "tree"
        (tree / script).parent.mkdir(parents=True, exist_ok=True)
        (tree / script).write_text(head + text)
        return run_build_script(tree, script, machine)

    return answer


def test_a_script_that_stops_has_an_error_and_a_line(run_script):
    result = run_script("\nif CUDA_HOME is None:\n    raise NotImplementedError('no CUDA')\n")

    assert (result.extensions, result.error, result.line) == ((), "NotImplementedError: no CUDA", 8)
    assert result.is_conclusive


def test_an_attribute_that_the_stubs_do_not_have_is_not_conclusive(run_script):
    result = run_script("torch.nobody_knows_this()\n")

    assert not result.is_conclusive
    assert "nobody_knows_this" in result.error


def test_a_missing_module_is_not_conclusive(run_script):
    assert not run_script("import nobody_has_this_module\n").is_conclusive


def test_a_script_that_calls_exit_has_an_error(run_script):
    result = run_script("import sys\nsys.exit(3)\n")

    assert result.error == "SystemExit: 3"


def test_a_script_that_kills_its_process_has_no_result(run_script):
    result = run_script("import os\nos._exit(1)\n")

    assert (result.is_conclusive, result.error) == (False, "setup.py printed no result")


def test_a_cpu_extension_is_ignored(run_script):
    result = run_script("setup(ext_modules=[CppExtension('a', ['a.cpp'])])\n")

    assert result.extensions == ()
    assert not result.has_device_code


def test_all_compile_options_are_read(run_script, tmp_path):
    result = run_script(
        "here = os.path.dirname(os.path.abspath(__file__))\n"
        "setup(name='p', ext_modules=[CUDAExtension(\n"
        "  name='p._C', sources=['csrc/a.cu', os.path.join(here, 'b.cpp')], include_dirs=[os.path.join(here, 'inc')],\n"
        "  define_macros=[('X', None), ('Y', 2)], undef_macros=['Z'],\n"
        "  extra_compile_args={'cxx': ['-O2'], 'nvcc': ['-O3', '-I' + os.path.join(here, 'glm')]})],\n"
        "  cmdclass={'build_ext': BuildExtension.with_options(use_ninja=False)})\n",
        script="sub/setup.py",
    )

    (item,) = result.extensions
    assert item.sources == ("sub/csrc/a.cu", "sub/b.cpp")
    assert item.include_dirs == ("sub/inc",)
    assert item.macros == ("-DX", "-DY=2", "-UZ")
    assert (item.host_flags, item.device_flags) == (("-O2",), ("-O3", "-Isub/glm"))
    assert (item.root, item.script, item.line) == ("sub", "sub/setup.py", 7)
    assert result.has_device_code


@pytest.mark.parametrize(
    ("machine", "flags_expected"), [(AMD, ("-DROCM", "-DGFX=gfx942")), (CUDA, ("-DCUDA=13.0", "-DARCH=90"))]
)
def test_a_script_chooses_by_the_torch_it_finds(run_script, machine, flags_expected):
    result = run_script(
        "p = torch.cuda.get_device_properties(0)\n"
        "if torch.version.hip:\n    flags = ['-DROCM', f'-DGFX={p.gcnArchName}']\n"
        "else:\n    flags = [f'-DCUDA={torch.version.cuda}', f'-DARCH={p.major}{p.minor}']\n"
        "setup(ext_modules=[CUDAExtension('a', ['a.cu'], extra_compile_args=flags)])\n",
        machine,
    )

    assert result.extensions[0].device_flags == flags_expected
    assert result.extensions[0].host_flags == flags_expected


def test_a_cuda_toolkit_can_be_simulated(run_script):
    text = "if CUDA_HOME:\n    setup(ext_modules=[CUDAExtension('a', ['a.cu'])])\nelse:\n    setup()\n"

    assert not run_script(text).has_device_code
    assert run_script(text, SimulatedMachine("9.9.0", "7.7.7", "gfx942", 64, pretends_cuda_home=True)).has_device_code


def test_a_module_that_compiles_when_it_is_imported(run_script):
    result = run_script(
        "from torch.utils.cpp_extension import load\n"
        "m = load(name='m', sources=['k.cu'], extra_cuda_cflags=['-O3'], extra_include_paths=['inc'])\nm.anything(1)\n",
        script="pkg/backend.py",
    )

    (item,) = result.extensions
    assert (item.name, item.sources, item.include_dirs) == ("m", ("pkg/k.cu",), ("pkg/inc",))
    assert item.jit


def test_output_of_the_script_is_ignored(run_script):
    assert run_script("print('{}')\nsetup(ext_modules=[CUDAExtension('a', ['a.cu'])])\nprint('x')\n").has_device_code
