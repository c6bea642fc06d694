import onnxruntime
import torch

is_rocm = torch.version.hip is not None


def load(path):
    return onnxruntime.InferenceSession(path, providers=["MIGraphXExecutionProvider", "CPUExecutionProvider"] if is_rocm else ["CUDAExecutionProvider", "CPUExecutionProvider"])
