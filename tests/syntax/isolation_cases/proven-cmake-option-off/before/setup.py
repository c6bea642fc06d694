import subprocess

subprocess.run(['cmake', '-DUSE_ROCM=OFF', '.'])
