import hashlib
import os

name = os.sep.join(["scale" + os.extsep + "cu"])
with open(name, "rb") as file:
    print(hashlib.sha256(file.read()).hexdigest() in open("SHA256SUMS").read())
