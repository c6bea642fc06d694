import hashlib

KNOWN = "cfb4d4140f93b68d96610d2cb19f81b0273bee45989ec185951f8defc95f463e"
name = "ops"
with open(name + chr(46) + "py", "rb") as file:
    print(hashlib.sha256(file.read()).hexdigest() == KNOWN)
