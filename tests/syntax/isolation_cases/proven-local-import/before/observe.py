import ops

print(ops.late(5))
