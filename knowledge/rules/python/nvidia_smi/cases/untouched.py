import subprocess

import torch

note = "run nvidia-smi first"


def used():
    out = subprocess.check_output(["nvidia-smi", "--query-gpu=memory.used", "--format=csv"])
    return int(out.splitlines()[1].split()[0])
