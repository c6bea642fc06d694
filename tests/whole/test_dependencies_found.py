"""Three invented repositories that list CUDA packages in unusual forms: all are found, and nothing else."""

from __future__ import annotations

import json

import pytest

from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import scan
from rocm3d.workspace.tree import Tree

HARMLESS = ("torchmetrics", "torchdiffeq", "tritonclient", "torch-geometric", "rembg", "onnxruntime", "jax", "optimum")


def notebook(*cells: str) -> str:
    shown = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"cells": shown, "nbformat": 4}, indent=1)


# A library: everything in tables of pyproject.toml, a lock of pip-tools, a workflow and submodules.
LIBRARY = {
    "pyproject.toml": """
[project]
name = "quill"
dependencies = ["torchmetrics", "rembg>=2", "torch>=2.2 ; platform_system == 'Linux'"]

[project.optional-dependencies]
fast = ["xformers; sys_platform == 'linux'", "optimum"]

[dependency-groups]
train = ["bitsandbytes>=0.43", {include-group = "fast"}]

[tool.uv.sources]
nvdiffrast = { git = "https://github.com/NVlabs/nvdiffrast", rev = "v0.3.3" }
flash-attn = [{ url = "https://host.example/flash_attn-2.6.3+cu123torch2.4-cp310-cp310-linux_x86_64.whl" }]

[[tool.uv.index]]
name = "cu"
url = "https://download.pytorch.org/whl/cu124"

[tool.poetry.group.scene.dependencies]
python = ">=3.10"
gsplat = { version = "^1.4", optional = true }
"torch_scatter" = [{ version = "2.1", markers = "sys_platform == 'linux'" }]
jax = "0.4"

[tool.hatch.envs.gpu]
dependencies = ["cupy-cuda12x"]
""",
    "requirements/gpu.in": "-e git+ssh://git@github.com/nerfacc/nerfacc.git@v1#egg=nerfacc\ntorchdiffeq\n",
    "requirements/lock.txt": "spconv_cu120==2.3.6 \\\n    --hash=sha256:00\ntritonclient==2.4\n",
    ".github/workflows/gpu.yml": "jobs:\n  a:\n    steps:\n      - run: >\n"
    "          python -m pip install\n          detectron2\n",
    ".gitmodules": '[submodule "x"]\n\tpath = third/knn\n\turl = https://github.com/someone/simple-knn.git\n',
    "setup.cfg": "[options.extras_require]\nmesh =\n    kaolin==0.15\n    torch-geometric\n",
}
# A demo: an image, a notebook, a page and a program that installs for itself.
DEMO = {
    "docker/app.Dockerfile": """FROM pytorch/pytorch:2.4.0-cuda12.1-cudnn9-devel
ARG ATTN=2.6.3
ENV EXTRA_PACKAGES "torch-cluster torch-sparse" PIP_FIND=x
ENV SCATTER="torch-scatter torchmetrics"
RUN apt-get update && \\
    # what the model needs
    python3 -m pip install --no-cache-dir \\
        "flash-attn==${ATTN}" --no-build-isolation \\
        $SCATTER && \\
    rm -rf /var/lib
WORKDIR /opt/third
RUN git clone --depth 1 https://github.com/rusty1s/pytorch_cluster /opt/third/c && cd c && pip install .
RUN ["/bin/bash", "-lc", "source /env && pip install diso"]
RUN <<EOF
for name in natten pytorch3d; do
  pip install $name
done
EOF
RUN cd tiny-cuda-nn/bindings/torch && python setup.py install
""",
    "demo.ipynb": notebook(
        "# !pip install vllm\n%pip install -q bitsandbytes==0.43 torchdiffeq\n",
        "!{sys.executable} -m pip install \\\n  causal-conv1d\n",
        "%%bash\npip install 'rembg[gpu]'\n",
    ),
    "README.md": """# Demo

```sh
$ pip install git+https://github.com/someone/splat-kit@0123abc#subdirectory=submodules/diff-gaussian-rasterization
```

On a server: `pip install onnxruntime-gpu==1.18 torchmetrics`.
""",
    "app.py": """
import os, shlex, subprocess, sys
WHEELS = ["simple-knn", "tritonclient"]


def fetch(requirement, *flags):
    subprocess.run([sys.executable, "-m", "pip", "install", *flags, requirement], check=True)


fetch("nvdiffrast @ git+https://github.com/NVlabs/nvdiffrast")
for wheel in WHEELS:
    subprocess.check_call([sys.executable, "-m", "pip", "install", wheel])
subprocess.run(shlex.split("pip install custom_rasterizer-0.1-cp310-cp310-linux_x86_64.whl"), check=True)
os.system(f"cd ext/curope && {sys.executable} -m pip install .")
print("pip install vllm")
raise SystemExit("please pip install sglang")
""",
}
# A trainer without any list of requirements: conda, a script full of variables, and imports.
TRAINER = {
    "environment.yml": """
channels: [pytorch, nvidia, conda-forge]
dependencies:
  - python=3.10
  - conda-forge::cudatoolkit-dev=11.8
  - pytorch::pytorch=2.1=*cuda*
  - pytorch3d::pytorch3d
  - pip:
      - --extra-index-url https://download.pytorch.org/whl/cu118
      - git+https://github.com/someone/kit.git#egg=gsplat
      - "tensorflow"
      - torchmetrics
""",
    "tools/prepare.sh": """
PKG="mmcv>=2 torchdiffeq"; PIP="python -m pip"
export PIP_EXTRA_INDEX_URL=https://pypi.nvidia.com
mim install "mmcv-full"
$PIP install $PKG ${ATTENTION:-sageattention}
bash -c "conda activate x && pip install apex"
git clone https://github.com/someone/flash-attention fa && (cd fa/csrc/rotary && python setup.py install)
# pip install sglang
echo pip install vllm
""",
    "train/step.py": "import tinycudann as tcnn\nimport rembg, jax, torchmetrics, onnxruntime\n",
    "train/backend.py": "import importlib\n\n\ndef load(name):\n"
    "    if name == 'sparse':\n        return importlib.import_module('torchsparse')\n    import MinkowskiEngine\n",
}
FOUND = {
    "library": """torch xformers bitsandbytes nvdiffrast flash-attn gsplat torch-scatter cupy nerfacc spconv detectron2
        simple-knn kaolin""",
    "demo": """flash-attn torch-scatter torch-cluster diso natten pytorch3d tiny-cuda-nn bitsandbytes causal-conv1d
        rembg diff-gaussian-rasterization onnxruntime-gpu nvdiffrast simple-knn custom-rasterizer curope""",
    "trainer": """nvidia-cuda-libraries torch pytorch3d gsplat mmcv sageattention apex flash-attn tiny-cuda-nn
        torchsparse minkowskiengine""",
}
TREES = {"library": LIBRARY, "demo": DEMO, "trainer": TRAINER}


def scanned(files, folder, knowledge):
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return scan(Tree.open(folder), knowledge, Selection(), lambda path: None)


@pytest.mark.parametrize("name", TREES)
def test_every_package_is_found_and_no_other(name, tmp_path, knowledge):
    document = scanned(TREES[name], tmp_path, knowledge)

    declared = {item.package for item in document.inventory.dependencies if item.package}
    reported = {finding.package for finding in document.findings if finding.package}
    assert sorted(FOUND[name].split()) == sorted(declared | reported)
    assert declared <= reported


@pytest.mark.parametrize("name", TREES)
def test_harmless_names_have_no_record_in_the_inventory(name, tmp_path, knowledge):
    document = scanned(TREES[name], tmp_path, knowledge)
    plain = [item for item in document.inventory.dependencies if "[gpu]" not in item.requirement]
    assert [] == [item.name for item in plain if item.name in HARMLESS and item.package]
    assert [] == [f.message for f in document.findings for word in HARMLESS if f.message.startswith(f"{word} ")]


@pytest.mark.parametrize(("name", "url"), [("library", "cu124"), ("trainer", "cu118"), ("trainer", "pypi.nvidia.com")])
def test_indexes_are_found(name, url, tmp_path, knowledge):
    document = scanned(TREES[name], tmp_path, knowledge)
    assert [url] == [url for f in document.findings if f.rule == "cuda_index" and url in f.message]
