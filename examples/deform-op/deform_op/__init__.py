from .op import SampledAttention, sample_attention, sample_attention_torch

__all__ = ["SampledAttention", "sample_attention", "sample_attention_torch"]
