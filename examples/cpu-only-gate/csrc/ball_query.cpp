#include <torch/extension.h>

#include <tuple>

#ifdef WITH_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

void ball_query_cuda(int points, int centers, float radius, int k, const float* xyz,
                     const float* center, int64_t* index, int64_t* count, void* stream);
#endif

namespace {

void ball_query_cpu(int points, int centers, float radius, int k, const float* xyz,
                    const float* center, int64_t* index, int64_t* count) {
    for (int m = 0; m < centers; ++m) {
        int found = 0;
        for (int i = 0; i < points && found < k; ++i) {
            const float dx = xyz[3 * i] - center[3 * m];
            const float dy = xyz[3 * i + 1] - center[3 * m + 1];
            const float dz = xyz[3 * i + 2] - center[3 * m + 2];
            if (dx * dx + dy * dy + dz * dz < radius * radius) index[int64_t(m) * k + found++] = i;
        }
        count[m] = found;
    }
}

std::tuple<torch::Tensor, torch::Tensor> ball_query(torch::Tensor points, torch::Tensor centers,
                                                    double radius, int64_t k) {
    TORCH_CHECK(points.dim() == 2 && points.size(1) == 3, "points must be N x 3");
    TORCH_CHECK(centers.dim() == 2 && centers.size(1) == 3, "centers must be M x 3");
    TORCH_CHECK(points.device() == centers.device(), "points and centers on different devices");
    points = points.to(torch::kFloat32).contiguous();
    centers = centers.to(torch::kFloat32).contiguous();
    const auto options = points.options().dtype(torch::kInt64);
    auto index = torch::full({centers.size(0), k}, -1, options);
    auto count = torch::zeros({centers.size(0)}, options);
    if (points.is_cuda()) {
#ifdef WITH_CUDA
        const c10::cuda::CUDAGuard guard(points.device());
        ball_query_cuda(points.size(0), centers.size(0), radius, k, points.data_ptr<float>(),
                        centers.data_ptr<float>(), index.data_ptr<int64_t>(),
                        count.data_ptr<int64_t>(), c10::cuda::getCurrentCUDAStream().stream());
#else
        TORCH_CHECK(false, "ballgroup was built without CUDA");
#endif
    } else {
        ball_query_cpu(points.size(0), centers.size(0), radius, k, points.data_ptr<float>(),
                       centers.data_ptr<float>(), index.data_ptr<int64_t>(),
                       count.data_ptr<int64_t>());
    }
    return {index, count};
}

bool has_cuda() {
#ifdef WITH_CUDA
    return true;
#else
    return false;
#endif
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("ball_query", &ball_query);
    m.def("has_cuda", &has_cuda);
}
