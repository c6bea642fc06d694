#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

#include <tuple>

#include "forward.h"

namespace {

void check(const torch::Tensor& t, const char* name) {
    TORCH_CHECK(t.is_cuda(), name, " must be a CUDA tensor");
    TORCH_CHECK(t.is_contiguous(), name, " must be contiguous");
    TORCH_CHECK(t.scalar_type() == torch::kFloat32, name, " must be float32");
}

// Returns the image (H, W, 3) and the number of Gaussians that reach it.
std::tuple<torch::Tensor, int64_t> preview(
    torch::Tensor means, torch::Tensor scales, torch::Tensor quats, torch::Tensor opacities,
    torch::Tensor colors, torch::Tensor viewmat, double fx, double fy, double cx, double cy,
    int64_t width, int64_t height) {
    check(means, "means");
    check(scales, "scales");
    check(quats, "quats");
    check(opacities, "opacities");
    check(colors, "colors");
    const c10::cuda::CUDAGuard guard(means.device());
    cudaStream_t stream = c10::cuda::getCurrentCUDAStream();

    splat::Camera cam;
    auto host = viewmat.to(torch::kCPU, torch::kFloat32).contiguous();
    for (int i = 0; i < 12; ++i) cam.view[i] = host.data_ptr<float>()[i];
    cam.fx = fx;
    cam.fy = fy;
    cam.cx = cx;
    cam.cy = cy;
    cam.width = width;
    cam.height = height;

    const int count = means.size(0);
    constexpr int64_t kFields = sizeof(splat::Splat2D) / sizeof(float);
    auto packed = torch::zeros({count, kFields}, means.options());
    auto visible = torch::zeros({1}, means.options().dtype(torch::kInt32));
    auto* splats = reinterpret_cast<splat::Splat2D*>(packed.data_ptr<float>());
    splat::project(count, means.data_ptr<float>(), scales.data_ptr<float>(),
                   quats.data_ptr<float>(), opacities.data_ptr<float>(), cam, splats,
                   visible.data_ptr<int>(), stream);

    auto order = packed.select(1, 5).argsort().to(torch::kInt32).contiguous();
    auto image = torch::empty({height, width, 3}, means.options());
    splat::blend(count, splats, order.data_ptr<int>(), colors.data_ptr<float>(), cam,
                 make_float3(0.f, 0.f, 0.f), image.data_ptr<float>(), stream);
    return {image, visible.item<int>()};
}

torch::Tensor squared_error(torch::Tensor lhs, torch::Tensor rhs) {
    check(lhs, "lhs");
    check(rhs, "rhs");
    TORCH_CHECK(lhs.numel() == rhs.numel(), "sizes differ");
    const c10::cuda::CUDAGuard guard(lhs.device());
    auto total = torch::zeros({1}, lhs.options());
    splat::squared_error(lhs.numel(), lhs.data_ptr<float>(), rhs.data_ptr<float>(),
                         total.data_ptr<float>(), c10::cuda::getCurrentCUDAStream());
    return total;
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("preview", &preview, "render one view, no gradients");
    m.def("squared_error", &squared_error, "sum of squared differences");
}
