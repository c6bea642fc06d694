"""Stands in, by import name, for packages that exist for CUDA only.

`python -m rocm3d_kernels run script.py ...`, `import rocm3d_kernels.dropin.auto`, or for child processes ROCM3D_DROPIN
with the folder `startup` on PYTHONPATH. Nothing here imports torch before a program asks for such a package.
"""
