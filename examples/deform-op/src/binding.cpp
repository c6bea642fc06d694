#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

#include <vector>

#include "sample_kernel.h"

namespace {

SampleSizes sizes_of(const at::Tensor& value, const at::Tensor& locations) {
    for (const auto& t : {value, locations}) {
        TORCH_CHECK(t.is_cuda() && t.is_contiguous(), "expected contiguous CUDA tensors");
    }
    SampleSizes n;
    n.batch = value.size(0);
    n.length = value.size(1);
    n.heads = value.size(2);
    n.channels = value.size(3);
    n.queries = locations.size(1);
    n.levels = locations.size(3);
    n.points = locations.size(4);
    return n;
}

at::Tensor forward(const at::Tensor& value, const at::Tensor& shapes, const at::Tensor& starts,
                   const at::Tensor& locations, const at::Tensor& weights) {
    const c10::cuda::CUDAGuard guard(value.device());
    const auto n = sizes_of(value, locations);
    auto out = at::empty({n.batch, n.queries, n.heads * n.channels}, value.options());
    AT_DISPATCH_FLOATING_TYPES(value.scalar_type(), "sample_forward", [&] {
        sample_forward<scalar_t>(n, value.data_ptr<scalar_t>(), shapes.data_ptr<int64_t>(),
                                 starts.data_ptr<int64_t>(), locations.data_ptr<scalar_t>(),
                                 weights.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(),
                                 c10::cuda::getCurrentCUDAStream());
    });
    return out;
}

std::vector<at::Tensor> backward(const at::Tensor& value, const at::Tensor& shapes,
                                 const at::Tensor& starts, const at::Tensor& locations,
                                 const at::Tensor& weights, const at::Tensor& grad_out) {
    const c10::cuda::CUDAGuard guard(value.device());
    const auto n = sizes_of(value, locations);
    auto grad_value = at::zeros_like(value);
    auto grad_locations = at::empty_like(locations);
    auto grad_weights = at::empty_like(weights);
    AT_DISPATCH_FLOATING_TYPES(value.scalar_type(), "sample_backward", [&] {
        sample_backward<scalar_t>(
            n, value.data_ptr<scalar_t>(), shapes.data_ptr<int64_t>(),
            starts.data_ptr<int64_t>(), locations.data_ptr<scalar_t>(),
            weights.data_ptr<scalar_t>(), grad_out.data_ptr<scalar_t>(),
            grad_value.data_ptr<scalar_t>(), grad_locations.data_ptr<scalar_t>(),
            grad_weights.data_ptr<scalar_t>(), c10::cuda::getCurrentCUDAStream());
    });
    return {grad_value, grad_locations, grad_weights};
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward);
    m.def("backward", &backward);
}
