import torch

try:
    import flash_attn
    from flash_attn import flash_attn_varlen_func

    FLASH_ATTN_2_AVAILABLE = int(flash_attn.__version__.split(".")[0]) == 2
except ModuleNotFoundError:
    FLASH_ATTN_2_AVAILABLE = False

__all__ = ["packed_attention"]


def packed_attention(q, k, v, q_lens=None, k_lens=None, causal=False, dtype=torch.bfloat16):
    """Attention on (B, L, heads, dim); keys beyond k_lens are not looked at.

    The rows are packed without padding, so short clips cost what they should.
    """
    assert q.device.type == "cuda" and q.size(-1) <= 256
    b, lq, lk = q.size(0), q.size(1), k.size(1)
    out_dtype = q.dtype
    half = lambda x: x if x.dtype in (torch.float16, torch.bfloat16) else x.to(dtype)

    def pack(x, lens, length):
        if lens is None:
            return half(x.flatten(0, 1)), torch.full((b,), length, device=x.device)
        lens = lens.to(x.device)
        keep = torch.arange(length, device=x.device)[None] < lens[:, None]
        return half(x[keep]), lens

    q, q_lens = pack(q, q_lens, lq)
    assert q.size(0) == b * lq, "queries must be full"
    v, _ = pack(v, k_lens, lk)
    k, k_lens = pack(k, k_lens, lk)
    edges = lambda lens: torch.nn.functional.pad(lens.cumsum(0), (1, 0)).to(torch.int32)

    assert FLASH_ATTN_2_AVAILABLE
    x = flash_attn_varlen_func(
        q=q, k=k, v=v, cu_seqlens_q=edges(q_lens), cu_seqlens_k=edges(k_lens),
        max_seqlen_q=lq, max_seqlen_k=lk, causal=causal,
    )
    return x.unflatten(0, (b, lq)).to(out_dtype)
