import onnxruntime
import torch


def load(path):
    return onnxruntime.InferenceSession(path, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
