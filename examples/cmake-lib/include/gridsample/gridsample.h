#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace gridsample {

// Holds the scratch memory for clouds of up to max_points points.
class Downsampler {
public:
    explicit Downsampler(int max_points);
    ~Downsampler();
    Downsampler(const Downsampler&) = delete;
    Downsampler& operator=(const Downsampler&) = delete;

    // xyz: count x 3 on the device. centroids (count x 3) and sizes (count) are
    // filled for the voxels found, whose number is returned. Waits for the stream.
    int run(const float* xyz, int count, float voxel, float* centroids, int* sizes,
            cudaStream_t stream = nullptr);

private:
    int capacity_;
    uint64_t *keys_ = nullptr, *sorted_keys_ = nullptr, *unique_keys_ = nullptr;
    int *order_ = nullptr, *sorted_order_ = nullptr, *starts_ = nullptr, *found_ = nullptr;
    void* scratch_ = nullptr;
    size_t scratch_bytes_ = 0;
};

}  // namespace gridsample
