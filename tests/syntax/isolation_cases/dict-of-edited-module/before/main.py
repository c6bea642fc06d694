import ops

print(sorted(name for name in ops.__dict__ if name[0] != '_'))
