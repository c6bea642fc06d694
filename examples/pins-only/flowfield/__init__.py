from .model import Flow, VelocityField

__all__ = ["Flow", "VelocityField"]
