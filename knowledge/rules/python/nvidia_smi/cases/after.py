import subprocess

import torch

is_rocm = torch.version.hip is not None


def show_cards():
    subprocess.run(["amd-smi", "static"] if is_rocm else ["nvidia-smi"], check=True)
