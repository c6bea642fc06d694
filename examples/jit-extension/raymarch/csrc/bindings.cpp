#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

#include <tuple>

#include "raymarch.h"

#define CHECK_FLOAT(x)                                                            \
    TORCH_CHECK((x).is_cuda() && (x).is_contiguous() &&                           \
                    (x).scalar_type() == torch::kFloat32,                         \
                #x " must be a contiguous float32 CUDA tensor")

std::tuple<torch::Tensor, torch::Tensor> march(torch::Tensor origins, torch::Tensor directions,
                                               torch::Tensor grid, double near_t, double far_t,
                                               double step, int64_t max_samples, int64_t seed) {
    CHECK_FLOAT(origins);
    CHECK_FLOAT(directions);
    TORCH_CHECK(grid.is_cuda() && grid.scalar_type() == torch::kUInt8, "grid must be uint8, CUDA");
    TORCH_CHECK(step > 0, "step must be positive");
    const c10::cuda::CUDAGuard guard(origins.device());
    auto t = torch::zeros({origins.size(0), max_samples}, origins.options());
    auto dt = torch::zeros_like(t);
    launch_march(origins.size(0), grid.size(0), max_samples, near_t, far_t, step, seed,
                 origins.data_ptr<float>(), directions.data_ptr<float>(),
                 grid.data_ptr<uint8_t>(), t.data_ptr<float>(), dt.data_ptr<float>(),
                 c10::cuda::getCurrentCUDAStream());
    return {t, dt};
}

std::tuple<torch::Tensor, torch::Tensor> composite(torch::Tensor sigma, torch::Tensor color,
                                                   torch::Tensor dt) {
    CHECK_FLOAT(sigma);
    CHECK_FLOAT(color);
    CHECK_FLOAT(dt);
    const c10::cuda::CUDAGuard guard(sigma.device());
    auto rgb = torch::empty({sigma.size(0), 3}, sigma.options());
    auto opacity = torch::empty({sigma.size(0)}, sigma.options());
    launch_composite(sigma.size(0), sigma.size(1), sigma.data_ptr<float>(),
                     color.data_ptr<float>(), dt.data_ptr<float>(), rgb.data_ptr<float>(),
                     opacity.data_ptr<float>(), c10::cuda::getCurrentCUDAStream());
    return {rgb, opacity};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("march", &march);
    m.def("composite", &composite);
}
