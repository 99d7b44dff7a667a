// Registers LibTorch's operators for the device: they run the CPU's operators over the device's memory, under
// CUDA's rules.
#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/library.h>

#include "tests/device_on_host/host_device.h"

namespace ringmaster::host_device {

namespace {

using torch::jit::Stack;

/// Fills the tensor's memory with 0xff bytes, so that floating-point numbers are NaN and signed integers are
/// -1.
void spoil(at::Tensor on_host) {
    const at::Tensor spoilt = at::full({static_cast<int64_t>(on_host.element_size())}, 0xff, at::kByte);
    on_host.copy_(spoilt.view(on_host.scalar_type())[0].expand(on_host.sizes()));
}

/// Converts one call's arguments for the CPU, and its results back.
class Call {
  public:
    explicit Call(const c10::OperatorHandle& op) : name_(op.schema().name()) {}

    c10::IValue to_host(const c10::IValue& value) {
        if (value.isTensor()) return to_host(value.toTensor());
        if (value.isDevice()) return value.toDevice().is_cuda() ? c10::Device(c10::kCPU) : value;
        if (value.isTensorList()) {
            c10::List<at::Tensor> all;
            for (const at::Tensor& one : value.toTensorVector()) all.push_back(to_host(one));
            return all;
        }
        if (value.isOptionalTensorList()) {
            c10::List<std::optional<at::Tensor>> all;
            for (const auto& one : value.toOptionalTensorVector())
                all.push_back(one ? std::optional(to_host(*one)) : std::nullopt);
            return all;
        }
        return value;
    }

    c10::IValue to_device(const c10::IValue& value) const {
        if (value.isTensor()) return to_device(value.toTensor());
        if (!value.isTensorList()) return value;
        c10::List<at::Tensor> all;
        for (const at::Tensor& one : value.toTensorVector()) all.push_back(to_device(one));
        return all;
    }

  private:
    at::Tensor to_host(const at::Tensor& x) {
        if (!x.defined()) return x;
        if (!x.is_cuda()) {
            TORCH_CHECK(x.dim() == 0 || name_ == "aten::is_set_to",
                        "Expected all tensors to be on the same device: ", name_,
                        " was given one of the CPU, ", x.sizes());
            return x;
        }
        given_.emplace_back(x, shown_to_host(x));
        return given_.back().second;
    }

    at::Tensor to_device(const at::Tensor& result) const {
        if (!result.defined()) return result;
        for (const auto& [on_device, on_host] : given_) {
            if (result.is_same(on_host)) {
                if (on_device.sizes() != result.sizes()) resized(on_device, result);
                return on_device;
            }
            if (result.storage().unsafeGetStorageImpl() == on_host.storage().unsafeGetStorageImpl())
                return view_of(on_device, result);
        }
        return shown_to_device(result);
    }

    /// Gives an output argument that was empty the size and the memory of the result.
    void resized(const at::Tensor& on_device, const at::Tensor& result) const {
        TORCH_CHECK(on_device.numel() == 0, name_, " changed the size of an argument");
        c10::TensorImpl* tensor = on_device.unsafeGetTensorImpl();
        tensor->set_storage_keep_dtype(shown_to_device(result).storage());
        tensor->set_sizes_and_strides(result.sizes(), result.strides());
    }

    std::string name_;
    std::vector<std::pair<at::Tensor, at::Tensor>> given_;
};

void as_on_the_cpu(const c10::OperatorHandle& op, Stack* stack) {
    finish_current_stream();
    const at::AutoDispatchBelowADInplaceOrView below;
    Call call(op);
    const size_t count = op.schema().arguments().size();
    for (size_t i = stack->size() - count; i < stack->size(); ++i) (*stack)[i] = call.to_host((*stack)[i]);
    try {
        op.callBoxed(stack);
    } catch (c10::Error& error) {
        error.add_context("in " + op.schema().name() + " on the device of tests");
        throw;
    }
    const bool is_new = op.schema().name() == "aten::empty" || op.schema().name() == "aten::empty_strided";
    if (is_new) spoil(stack->back().toTensor());
    const size_t results = op.schema().returns().size();
    for (size_t i = stack->size() - results; i < stack->size(); ++i)
        (*stack)[i] = call.to_device((*stack)[i]);
}

at::Tensor on_host(const at::Tensor& x) {
    return x.is_cuda() ? shown_to_host(x) : x;
}

/// Refers to the source or the target of a copy that runs later, without keeping the device's memory alive.
class LateSide {
  public:
    explicit LateSide(const at::Tensor& x)
        : shape_(x.is_cpu() ? x : without_memory(x)),
          memory_(x.storage().getWeakStorageImpl()),
          on_host_(x.is_cpu()) {}

    at::Tensor now() const {
        if (on_host_) return shape_;
        const auto held = memory_.lock();
        TORCH_CHECK(held, "the memory of a copy on another stream was freed before it ran");
        return shown_to_host(c10::Storage(held), shape_);
    }

  private:
    at::Tensor shape_;
    c10::weak_intrusive_ptr<c10::StorageImpl> memory_;
    bool on_host_;
};

void copy_later(const at::Tensor& self, const at::Tensor& src) {
    give(current_stream(), [to = LateSide(self), from = LateSide(src)] { to.now().copy_(from.now()); });
}

at::Tensor& copy_(at::Tensor& self, const at::Tensor& src, bool non_blocking) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const bool waits = !non_blocking || self.is_cuda() == src.is_cuda();
    if (!waits && current_stream() != 0) {
        copy_later(self, src);
    } else if (!waits && self.is_cpu() && src.numel() > 0) {
        const at::Tensor as_of_now = shown_to_host(src).clone();
        spoil(self);
        give(current_stream(), [self, as_of_now] { at::Tensor(self).copy_(as_of_now); });
    } else {
        finish_current_stream();
        on_host(self).copy_(on_host(src));
    }
    return self;
}

void record_stream(at::Tensor& self, c10::Stream stream) {
    give(stream.id(), [kept = self.storage()] {});
}

/// Calls `multiply` with host tensors of a product that adds half-precision matrices to float32. CUDA has
/// such products and the CPU does not, so `multiply` gets the matrices in float32.
template <typename Multiply>
void add_half_products(const at::Tensor& self, const at::Tensor& a, const at::Tensor& b, at::ScalarType dtype,
                       at::Tensor& out, const Multiply& multiply) {
    TORCH_CHECK(a.is_cuda() && b.is_cuda() && out.is_cuda() && self.is_cuda(), "product: another device");
    TORCH_CHECK(a.scalar_type() == b.scalar_type(), "product: dtypes of the matrices");
    TORCH_CHECK(dtype == at::kFloat && (a.scalar_type() == at::kBFloat16 || a.scalar_type() == at::kHalf),
                "product: out_dtype is float32 for half-precision matrices");
    TORCH_CHECK(out.scalar_type() == dtype, "product: dtype of out");
    TORCH_CHECK(self.scalar_type() == dtype || self.scalar_type() == a.scalar_type(),
                "product: dtype of self");
    finish_current_stream();
    const at::AutoDispatchBelowADInplaceOrView below;
    at::Tensor to = shown_to_host(out);
    const at::Tensor sum = self.is_same(out) ? to : shown_to_host(self).to(dtype);
    multiply(to, sum, shown_to_host(a).to(dtype), shown_to_host(b).to(dtype));
}

at::Tensor& addmm_dtype_out(const at::Tensor& self, const at::Tensor& a, const at::Tensor& b,
                            at::ScalarType dtype, const at::Scalar& beta, const at::Scalar& alpha,
                            at::Tensor& out) {
    add_half_products(self, a, b, dtype, out, [&](at::Tensor& to, const auto&... parts) {
        at::addmm_out(to, parts..., beta, alpha);
    });
    return out;
}

/// Requires that `out` is `self` and has the product's size, because versions of LibTorch differ in whether
/// they copy `self` to `out`.
at::Tensor& baddbmm_dtype_out(const at::Tensor& self, const at::Tensor& a, const at::Tensor& b,
                              at::ScalarType dtype, const at::Scalar& beta, const at::Scalar& alpha,
                              at::Tensor& out) {
    TORCH_CHECK(self.is_same(out), "baddbmm: out is not self");
    TORCH_CHECK(out.sizes() == at::IntArrayRef({a.size(0), a.size(1), b.size(2)}), "baddbmm: size of out");
    add_half_products(self, a, b, dtype, out, [&](at::Tensor& to, const auto&... parts) {
        at::baddbmm_out(to, parts..., beta, alpha);
    });
    return out;
}

/// Multiplies integer matrices, and refuses the shapes that CUDA's product refuses; the CPU's product accepts
/// them.
at::Tensor int_mm(const at::Tensor& a, const at::Tensor& b) {
    TORCH_CHECK(a.is_cuda() && b.is_cuda(), "_int_mm: another device");
    TORCH_CHECK(a.size(0) > 16, "_int_mm: self.size(0) needs to be greater than 16, but got ", a.size(0));
    TORCH_CHECK(a.size(1) > 0 && a.size(1) % 8 == 0 && b.size(1) > 0 && b.size(1) % 8 == 0,
                "_int_mm: sizes need to be multiples of 8, but got ", a.sizes(), " and ", b.sizes());
    finish_current_stream();
    const at::AutoDispatchBelowADInplaceOrView below;
    return shown_to_device(at::_int_mm(shown_to_host(a), shown_to_host(b)));
}

TORCH_LIBRARY_IMPL(_, CUDA, all) {
    all.fallback(torch::CppFunction::makeFromBoxedFunction<&as_on_the_cpu>());
}

TORCH_LIBRARY_IMPL(aten, CUDA, own) {
    own.impl("copy_", TORCH_FN(copy_));
    own.impl("record_stream", TORCH_FN(record_stream));
    own.impl("addmm.dtype_out", TORCH_FN(addmm_dtype_out));
    own.impl("baddbmm.dtype_out", TORCH_FN(baddbmm_dtype_out));
    own.impl("_int_mm", TORCH_FN(int_mm));
}

}  // namespace

}  // namespace ringmaster::host_device
