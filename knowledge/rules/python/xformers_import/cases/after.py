import torch
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

    def memory_efficient_attention(query, key, value, attn_bias=None, p=0.0, scale=None, op=None):
        if attn_bias is not None and not (torch.is_tensor(attn_bias) and query.dim() == 4):
            raise NotImplementedError("only a tensor is known as a bias to torch's attention")
        if query.dim() == 3:  # without heads
            return _sdpa(query[:, :, None], key[:, :, None], value[:, :, None], p, scale)[:, :, 0]
        return _sdpa(query, key, value, p, scale, bias=attn_bias)
else:
    from xformers.ops import memory_efficient_attention


def attend(q, k, v):
    return memory_efficient_attention(q, k, v)
