#include <cuda_runtime.h>
#include <gridsample/gridsample.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

int main(int argc, char** argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 1000000;
    const float voxel = argc > 2 ? static_cast<float>(std::atof(argv[2])) : 0.05f;

    std::mt19937 random(7);
    std::uniform_real_distribution<float> place(-5.f, 5.f);
    std::vector<float> host(3 * static_cast<size_t>(count));
    for (float& v : host) v = place(random);

    float *xyz = nullptr, *centroids = nullptr;
    int* sizes = nullptr;
    const size_t bytes = host.size() * sizeof(float);
    if (cudaMalloc(reinterpret_cast<void**>(&xyz), bytes) != cudaSuccess ||
        cudaMalloc(reinterpret_cast<void**>(&centroids), bytes) != cudaSuccess ||
        cudaMalloc(reinterpret_cast<void**>(&sizes), count * sizeof(int)) != cudaSuccess) {
        std::fprintf(stderr, "not enough memory on the device\n");
        return 1;
    }
    cudaMemcpy(xyz, host.data(), bytes, cudaMemcpyHostToDevice);

    gridsample::Downsampler down(count);
    int voxels = down.run(xyz, count, voxel, centroids, sizes);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) voxels = down.run(xyz, count, voxel, centroids, sizes);
    const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;

    std::vector<int> host_sizes(voxels);
    cudaMemcpy(host_sizes.data(), sizes, voxels * sizeof(int), cudaMemcpyDeviceToHost);
    long long sum = 0;
    for (int s : host_sizes) sum += s;
    std::printf("%d points, %d voxels, %.3f ms a run\n", count, voxels, spent.count() / 20);
    cudaFree(xyz);
    cudaFree(centroids);
    cudaFree(sizes);
    return sum == count ? 0 : 2;
}
