"""Drop-ins: our kernels under the import names of packages that exist for CUDA only.

`python -m rocm3d_kernels run script.py ...`, `import rocm3d_kernels.dropin.auto`, or for child processes ROCM3D_DROPIN
with the folder `startup` on PYTHONPATH. Nothing imports torch before a program imports such a package.
"""
