from glob import glob

for path in sorted(glob("*.cu")):
    print(path, len(open(path).read()))
