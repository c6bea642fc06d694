import onnxruntime
import torch

note = "CUDAExecutionProvider"


def load(path):
    return onnxruntime.InferenceSession(path, providers=onnxruntime.get_available_providers())
