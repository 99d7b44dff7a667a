// Multiplies inputs by 8-bit weights as on a GPU, for a test that compares with bitsandbytes: int8_products
// FROM TO. For each case, FROM holds "THRESHOLD NAME x", "… weight", "… dy" and perhaps "… bias". TO holds "…
// y", the product, "… dx", the gradient of the inputs, and the "… codes" and "… scales" of x.
#include <ATen/ATen.h>

#include <cstdio>
#include <map>

#include "engine/error.h"
#include "engine/files/safetensors.h"
#include "engine/model/int8_product.h"
#include "engine/model/ops.h"
#include "engine/model/quantized_matrix.h"

namespace {

using namespace ringmaster;
using Tensors = std::map<std::string, at::Tensor>;

const std::map<std::string, at::ScalarType> kDtypes = {
    {"F32", at::kFloat}, {"F16", at::kHalf}, {"BF16", at::kBFloat16}, {"I8", at::kChar}};

Tensors read(const char* path) {
    const SafetensorsFile file(path);
    Tensors tensors;
    for (const auto& [name, info] : file.tensors()) {
        void* bytes = const_cast<std::byte*>(file.bytes(name).data());
        tensors[name] = at::from_blob(bytes, info.shape, kDtypes.at(info.dtype)).clone();
    }
    return tensors;
}

void write(const char* path, const Tensors& tensors) {
    std::vector<TensorInfo> infos;
    for (const auto& [name, tensor] : tensors) {
        for (const auto& [word, dtype] : kDtypes) {
            if (dtype == tensor.scalar_type()) infos.push_back({name, word, tensor.sizes().vec()});
        }
    }
    SafetensorsWriter writer(path, infos);
    for (const auto& [name, tensor] : tensors) writer.write(tensor.contiguous().data_ptr(), tensor.nbytes());
    writer.finish();
}

void add_results(const std::string& name, const Tensors& given, Tensors& made) {
    const double threshold = std::stod(name);
    const at::Tensor x_nc = given.at(name + "x"), weight_oc = given.at(name + "weight");
    Quantization quantization;
    quantization.format = WeightFormat::Int8;
    const at::Tensor bytes = quantize(weight_oc, quantization);
    const QuantizedLayout layout = quantized_layout(quantization, weight_oc.size(0), weight_oc.size(1));
    const QuantizedParts parts = parts_of(bytes, quantization, layout);
    const at::Tensor outliers_c = outlier_columns(x_nc, threshold, {});
    const Int8Matrix rows = quantize_inputs(x_nc, outliers_c, threshold);
    const at::Tensor bias_o = given.contains(name + "bias") ? given.at(name + "bias") : at::Tensor();
    const at::Tensor whole_oc = at::empty(weight_oc.sizes(), x_nc.options());
    dequantize(bytes, quantization, layout, whole_oc);
    made[name + "y"] = int8_linear(x_nc, {{parts.codes, parts.scales}}, bias_o, outliers_c, threshold);
    made[name + "dx"] = product(given.at(name + "dy"), whole_oc);
    made[name + "codes"] = rows.codes_oc;
    made[name + "scales"] = rows.scales_o;
}

}  // namespace

int main(int, char** argv) {
    try {
        const at::NoGradGuard no_grad;
        const Tensors given = read(argv[1]);
        Tensors made;
        for (const auto& [name, tensor] : given) {
            if (name.ends_with(" x")) add_results(name.substr(0, name.size() - 1), given, made);
        }
        write(argv[2], made);
        return 0;
    } catch (const Error& problem) {
        std::fprintf(stderr, "%s\n", problem.text().c_str());
        return static_cast<int>(problem.failure);
    }
}
