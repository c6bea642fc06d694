import torch

try:
    from flash_attn import flash_attn_func
    FLASH_ATTN_AVAILABLE = True
except ImportError:
    if torch.version.hip is not None:
        def _sdpa(q, k, v, dropout_p=0.0, scale=None, causal=False, bias=None):
            """Attention by torch, in the layout batch, sequence, heads, dimension."""
            queries, keys = q.shape[1], k.shape[1]
            if not queries or not keys:
                return v.new_zeros(*q.shape[:3], v.shape[-1])
            if causal and queries > keys:  # the first queries see no key
                seen = _sdpa(q[:, queries - keys :], k, v, dropout_p, scale, causal)
                return torch.cat([seen.new_zeros(seen.shape[0], queries - keys, *seen.shape[2:]), seen], 1)
            if causal and queries < keys:  # aligned at the last query, where torch aligns at the first
                bias = torch.ones(queries, keys, dtype=torch.bool, device=q.device).tril(keys - queries)
            out = torch.nn.functional.scaled_dot_product_attention(
                q.transpose(1, 2),
                k.transpose(1, 2),
                v.transpose(1, 2),
                attn_mask=bias,
                dropout_p=dropout_p,
                is_causal=causal and bias is None,
                scale=scale,
                enable_gqa=q.shape[2] != k.shape[2],
            )
            return out.transpose(1, 2).contiguous()

        def _sdpa_only(options):
            """What torch's attention does not have must be off."""
            for name, value in options.items():
                off = value is None or not torch.is_tensor(value) and (not value or value in ((-1, -1), [-1, -1]))
                if name != "deterministic" and not off:
                    raise NotImplementedError(f"flash_attn is not installed, and torch's attention has no {name}")

        def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, **options):
            _sdpa_only(options)
            return _sdpa(q, k, v, dropout_p, softmax_scale, causal)

        FLASH_ATTN_AVAILABLE = True
    else:
        FLASH_ATTN_AVAILABLE = False


def attention(q, k, v):
    assert FLASH_ATTN_AVAILABLE
    return flash_attn_func(q, k, v, causal=True)
