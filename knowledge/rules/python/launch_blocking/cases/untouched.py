import os

import torch

# os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
blocking = os.environ.get("CUDA_LAUNCH_BLOCKING", "0")
os.environ["OMP_NUM_THREADS"] = "1"
