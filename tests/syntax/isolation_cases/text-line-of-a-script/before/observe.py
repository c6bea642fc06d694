import subprocess

print(subprocess.run(["sh", "cut.sh"], capture_output=True).stdout)
