import ops

ops.is_rocm = True
print(ops.scale(5))
