import ops

print(hasattr(ops, "is_rocm"))
