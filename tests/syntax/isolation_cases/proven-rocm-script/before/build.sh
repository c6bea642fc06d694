if [ "$BACKEND" = rocm ]; then
  export CXXFLAGS=-DUSE_ROCM
fi
