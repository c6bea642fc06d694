import ops

print(ascii(ops.__doc__), ops.scale(5))
