"""As much of torch on an NVIDIA machine as the cases of the isolation proof import."""

from torch import nn, version

__all__ = ["cuda", "nn", "version"]


class cuda:  # noqa: N801
    @staticmethod
    def is_available():
        return True
