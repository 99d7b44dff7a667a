// Implements `quantize_tensors FROM TO`: quantizes the matrices of a safetensors file like a base model's, so
// that a test can compare the bytes with bitsandbytes'. A tensor's name in FROM begins with "format block
// nested: ". TO holds "NAME codes", "NAME scales", for nested scales "NAME nested" and "NAME offset", and
// "NAME back", the dequantized matrix in its own dtype.
#include <ATen/ATen.h>

#include <cstdio>
#include <map>
#include <sstream>

#include "engine/config/words.h"
#include "engine/error.h"
#include "engine/files/safetensors.h"
#include "engine/model/quantized_matrix.h"

namespace {

using namespace ringmaster;

const std::map<std::string, at::ScalarType> kDtypes = {
    {"F32", at::kFloat}, {"BF16", at::kBFloat16}, {"U8", at::kByte}, {"I8", at::kChar}};

std::string word_of(at::ScalarType dtype) {
    for (const auto& [word, known] : kDtypes) {
        if (known == dtype) return word;
    }
    throw Error(Failure::Usage, Code("CLI-USAGE"), "unknown dtype");
}

Quantization read_name(const std::string& name) {
    std::istringstream words(name);
    std::string format;
    Quantization quantization;
    words >> format >> quantization.block >> quantization.nested;
    quantization.format = from_word<WeightFormat>(format).value();
    return quantization;
}

std::map<std::string, at::Tensor> parts_by_name(const std::string& name, const at::Tensor& weight_oc) {
    const Quantization quantization = read_name(name);
    const at::Tensor bytes = quantize(weight_oc, quantization);
    const QuantizedLayout layout = quantized_layout(quantization, weight_oc.size(0), weight_oc.size(1));
    const QuantizedParts parts = parts_of(bytes, quantization, layout);
    const at::Tensor back = at::empty_like(weight_oc);
    dequantize(bytes, quantization, layout, back);
    std::map<std::string, at::Tensor> found = {
        {name + " codes", parts.codes},
        {name + " scales", parts.scales},
        {name + " back", back},
        {name + " plainly", dequantize_plainly(bytes, quantization, layout).to(weight_oc.scalar_type())}};
    if (layout.nested_blocks == 0) return found;
    found[name + " nested"] = parts.nested;
    found[name + " offset"] = at::full({1}, tail_of(bytes, layout).offset, at::kFloat);
    return found;
}

}  // namespace

int main(int, char** argv) {
    try {
        const at::NoGradGuard no_grad;
        const SafetensorsFile from(argv[1]);
        std::map<std::string, at::Tensor> made;
        for (const auto& [name, info] : from.tensors()) {
            void* bytes = const_cast<std::byte*>(from.bytes(name).data());
            made.merge(parts_by_name(name, at::from_blob(bytes, info.shape, kDtypes.at(info.dtype)).clone()));
        }
        std::vector<TensorInfo> infos;
        for (const auto& [name, tensor] : made)
            infos.push_back({name, word_of(tensor.scalar_type()), tensor.sizes().vec()});
        SafetensorsWriter writer(argv[2], infos);
        for (const auto& [name, tensor] : made) writer.write(tensor.contiguous().data_ptr(), tensor.nbytes());
        writer.finish();
        return 0;
    } catch (const Error& problem) {
        std::fprintf(stderr, "%s\n", problem.text().c_str());
        return static_cast<int>(problem.failure);
    }
}
