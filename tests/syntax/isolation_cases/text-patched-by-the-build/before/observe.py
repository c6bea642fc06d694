import subprocess

ended = subprocess.run(["git", "apply", "--check", "patches/double.patch"], capture_output=True)
print(ended.returncode)
