from .model import VideoTransformer

__all__ = ["VideoTransformer"]
