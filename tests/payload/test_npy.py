from __future__ import annotations

import subprocess
from pathlib import Path

import numpy
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "src" / "rocm3d" / "payload" / "npy.py"
WRITE = """
import importlib.util, sys, torch
from pathlib import Path
spec = importlib.util.spec_from_file_location("npy", sys.argv[1])
npy = importlib.util.module_from_spec(spec)
spec.loader.exec_module(npy)
folder = Path(sys.argv[2])
tensors = {
    "float32": torch.arange(6.).reshape(2, 3).t(),
    "bfloat16": torch.tensor([1.0, 3.140625], dtype=torch.bfloat16),
    "scalar": torch.tensor(7),
    "empty": torch.zeros(0, 4),
    "bool": torch.tensor([True, False]),
    "complex64": torch.tensor([1 + 2j]).conj(),
    "sparse": torch.eye(2).to_sparse(),
    "with_gradient": torch.ones(2, requires_grad=True),
}
for name, tensor in tensors.items():
    print(name, npy.write(folder / f"{name}.npy", tensor, torch))
try:
    npy.write(folder / "odd.npy", torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8), torch)
except TypeError as error:
    print("refused", error)
"""


@pytest.fixture(scope="module")
def written(torch_python, tmp_path_factory):
    folder = tmp_path_factory.mktemp("npy")
    ended = subprocess.run([torch_python, "-c", WRITE, SCRIPT, folder], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return folder, dict(line.split(" ", 1) for line in ended.stdout.splitlines())


def test_unsupported_dtypes_are_refused(written):
    folder, dtypes = written

    assert dtypes["refused"] == "qint8 tensors are not supported"
    assert not (folder / "odd.npy").exists()


def test_numpy_reads_what_was_written(written):
    folder, dtypes = written

    def read(name):
        return numpy.load(folder / f"{name}.npy", allow_pickle=False)

    assert read("float32").tolist() == [[0, 3], [1, 4], [2, 5]]
    assert (read("bfloat16").tolist(), dtypes["bfloat16"], read("bfloat16").dtype) == (
        [1, 3.140625],
        "bfloat16",
        "float32",
    )
    assert (read("scalar").shape, int(read("scalar"))) == ((), 7)
    assert read("empty").shape == (0, 4)
    assert read("bool").tolist() == [True, False]
    assert read("complex64").tolist() == [1 - 2j]
    assert read("sparse").tolist() == [[1, 0], [0, 1]]
    assert read("with_gradient").tolist() == [1, 1]
