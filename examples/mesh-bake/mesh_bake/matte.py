"""Background removal."""
import numpy as np
import onnxruntime as ort
from rembg import new_session, remove


def make_session(name: str = "u2net"):
    assert "CUDAExecutionProvider" in ort.get_available_providers(), "onnxruntime-gpu is needed"
    return new_session(name, providers=["CUDAExecutionProvider"])


def cut_out(image, session) -> np.ndarray:
    """(H, W, 4) in 0..1, alpha last."""
    return np.asarray(remove(image, session=session).convert("RGBA"), dtype=np.float32) / 255
