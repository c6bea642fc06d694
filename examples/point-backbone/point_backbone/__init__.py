from .model import PointBackbone

__all__ = ["PointBackbone"]
