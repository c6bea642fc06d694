from __future__ import annotations

import pytest

from rocm3d.verify.compilation.build_script import Machine, read_script

AMD = Machine(torch="9.9.0", hip="7.7.7", gfx="gfx942", wave=64)
CUDA = Machine(torch="9.9.0", hip="", gfx="", wave=32, cuda="13.0")
HEAD = (
    "import os\nimport torch\nfrom setuptools import setup\nfrom torch.utils.cpp_extension import *\n"
    "from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CppExtension, CUDAExtension\n"
)


@pytest.fixture
def read(tmp_path):
    def answer(text: str, machine: Machine = AMD, script: str = "setup.py", head: str = HEAD):
        tree = tmp_path / "tree"
        (tree / script).parent.mkdir(parents=True, exist_ok=True)
        (tree / script).write_text(head + text)
        return read_script(tree, script, machine)

    return answer


def test_a_script_that_stops_says_why_and_where(read):
    found = read("\nif CUDA_HOME is None:\n    raise NotImplementedError('no CUDA')\n")

    assert (found.extensions, found.error, found.line) == ((), "NotImplementedError: no CUDA", 8)
    assert found.known


def test_what_the_stand_ins_do_not_have_is_not_known(read):
    found = read("torch.nobody_knows_this()\n")

    assert not found.known
    assert "nobody_knows_this" in found.error


def test_a_module_that_is_not_here_is_not_known(read):
    assert not read("import nobody_has_this_module\n").known


def test_a_script_that_leaves_is_survived(read):
    found = read("import sys\nsys.exit(3)\n")

    assert found.error == "SystemExit: 3"


def test_a_script_that_kills_its_process_gives_no_answer(read):
    found = read("import os\nos._exit(1)\n")

    assert (found.known, found.error) == (False, "setup.py printed no result")


def test_a_cpu_extension_is_none_of_ours(read):
    found = read("setup(ext_modules=[CppExtension('a', ['a.cpp'])])\n")

    assert found.extensions == ()
    assert not found.has_device_code


def test_everything_that_a_compiler_is_told(read, tmp_path):
    found = read(
        "here = os.path.dirname(os.path.abspath(__file__))\n"
        "setup(name='p', ext_modules=[CUDAExtension(\n"
        "  name='p._C', sources=['csrc/a.cu', os.path.join(here, 'b.cpp')], include_dirs=[os.path.join(here, 'inc')],\n"
        "  define_macros=[('X', None), ('Y', 2)], undef_macros=['Z'],\n"
        "  extra_compile_args={'cxx': ['-O2'], 'nvcc': ['-O3', '-I' + os.path.join(here, 'glm')]})],\n"
        "  cmdclass={'build_ext': BuildExtension.with_options(use_ninja=False)})\n",
        script="sub/setup.py",
    )

    (item,) = found.extensions
    assert item.sources == ("sub/csrc/a.cu", "sub/b.cpp")
    assert item.include_dirs == ("sub/inc",)
    assert item.macros == ("-DX", "-DY=2", "-UZ")
    assert (item.host_flags, item.device_flags) == (("-O2",), ("-O3", "-Isub/glm"))
    assert (item.root, item.script, item.line) == ("sub", "sub/setup.py", 7)
    assert found.has_device_code


@pytest.mark.parametrize(
    ("machine", "wanted"), [(AMD, ("-DROCM", "-DGFX=gfx942")), (CUDA, ("-DCUDA=13.0", "-DARCH=90"))]
)
def test_a_script_chooses_by_the_torch_it_finds(read, machine, wanted):
    found = read(
        "p = torch.cuda.get_device_properties(0)\n"
        "if torch.version.hip:\n    flags = ['-DROCM', f'-DGFX={p.gcnArchName}']\n"
        "else:\n    flags = [f'-DCUDA={torch.version.cuda}', f'-DARCH={p.major}{p.minor}']\n"
        "setup(ext_modules=[CUDAExtension('a', ['a.cu'], extra_compile_args=flags)])\n",
        machine,
    )

    assert found.extensions[0].device_flags == wanted
    assert found.extensions[0].host_flags == wanted


def test_a_toolkit_can_be_pretended(read):
    text = "if CUDA_HOME:\n    setup(ext_modules=[CUDAExtension('a', ['a.cu'])])\nelse:\n    setup()\n"

    assert not read(text).has_device_code
    assert read(text, Machine("9.9.0", "7.7.7", "gfx942", 64, pretends_cuda_home=True)).has_device_code


def test_a_module_that_compiles_when_it_is_imported(read):
    found = read(
        "from torch.utils.cpp_extension import load\n"
        "m = load(name='m', sources=['k.cu'], extra_cuda_cflags=['-O3'], extra_include_paths=['inc'])\nm.anything(1)\n",
        script="pkg/backend.py",
    )

    (item,) = found.extensions
    assert (item.name, item.sources, item.include_dirs) == ("m", ("pkg/k.cu",), ("pkg/inc",))
    assert item.jit


def test_what_a_script_prints_does_not_matter(read):
    assert read("print('{}')\nsetup(ext_modules=[CUDAExtension('a', ['a.cu'])])\nprint('x')\n").has_device_code
