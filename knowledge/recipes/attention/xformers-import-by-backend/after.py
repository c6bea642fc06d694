import torch

if torch.version.hip is not None:

    def memory_efficient_attention(query, key, value, p=0.0, scale=None):
        if query.dim() == 3:
            return torch.nn.functional.scaled_dot_product_attention(query, key, value, dropout_p=p, scale=scale)
        q, k, v = (x.transpose(1, 2) for x in (query, key, value))
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=p, scale=scale).transpose(1, 2)
else:
    from xformers.ops import memory_efficient_attention


def attend(q, k, v):
    return memory_efficient_attention(q, k, v)
