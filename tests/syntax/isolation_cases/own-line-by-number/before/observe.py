import ops

print(repr(ops.third))
