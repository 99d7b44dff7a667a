// Reads checkpoints quantised by bitsandbytes, as saved by transformers. With 4 bits, X.weight holds codes,
// X.weight.absmax holds their scales, and X.weight.quant_state.bitsandbytes__nf4 (or fp4) holds a JSON text
// with the rest. With 8 bits, X.weight is int8, and X.SCB holds the rows' scales.
#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/kernels/four_bit.h"
#include "engine/model/quantized_base.h"
#include "engine/model/quantized_matrix.h"
#include "engine/model/weight_files.h"

namespace ringmaster {

namespace {

using nlohmann::json;

constexpr int64_t kMostStateBytes = 64 << 10;

[[noreturn]] void refuse(WeightFiles& files, const std::string& name, const std::string& problem) {
    throw Error(Failure::Refused, Code("MODEL-WEIGHTS"), "tensor '" + name + "' " + problem,
                files.path_of(name));
}

/// Returns the tensor's bytes as `elements` elements of `dtype`.
at::Tensor flat(WeightFiles& files, const std::string& name, at::ScalarType dtype, int64_t elements) {
    if (!files.has(name))
        throw Error(Failure::Refused, Code("MODEL-WEIGHTS"), "the weights lack '" + name + "'",
                    files.dir().string(), "a quantized model's folder must be whole");
    const TensorInfo& info = files.info(name);
    const auto bytes = static_cast<int64_t>(c10::elementSize(dtype)) * elements;
    if (info.bytes() != bytes)
        refuse(
            files, name,
            "has " + std::to_string(info.bytes()) + " bytes, config.json makes it " + std::to_string(bytes));
    return at::from_blob(files.mapped(name).data_ptr(), {elements}, at::TensorOptions().dtype(dtype));
}

json state_of(WeightFiles& files, const std::string& name) {
    const at::Tensor text = files.mapped(name);
    if (text.scalar_type() != at::kByte || text.numel() > kMostStateBytes)
        refuse(files, name, "is no quantization state");
    const std::string letters(static_cast<const char*>(text.data_ptr()), static_cast<size_t>(text.numel()));
    json state = json::parse(letters, nullptr, /*allow_exceptions=*/false);
    if (!state.is_object()) refuse(files, name, "is no quantization state");
    return state;
}

at::ScalarType dtype_of(const json& state) {
    const json said = state.value("dtype", json());
    return said == "bfloat16" ? at::kBFloat16 : said == "float16" ? at::kHalf : at::kFloat;
}

/// Returns how the state differs from the plan's, or an empty string.
std::string difference(const json& state, const ParameterShape& matrix, const Quantization& quantization) {
    const bool nested = state.contains("nested_offset");
    if (state.value("quant_type", json()) != to_string(quantization.format))
        return "has another quant_type than config.json";
    if (state.value("blocksize", json()) != quantization.block)
        return "has another blocksize than config.json";
    if (nested != quantization.nested) return "differs from config.json in double quantization";
    if (state.value("shape", json()) != json(matrix.shape))
        return "is of another shape than config.json makes it";
    if (nested &&
        (state.value("nested_blocksize", json()) != kNestedBlock || !state["nested_offset"].is_number()))
        return "has scales in other blocks than 256";
    return "";
}

/// Rejects code books other than those of bitsandbytes.
void check_book(WeightFiles& files, const std::string& name, const float* values, int64_t count) {
    const at::Tensor found = flat(files, name, at::kFloat, count);
    const at::Tensor known = at::tensor(at::ArrayRef<float>(values, static_cast<size_t>(count)), at::kFloat);
    if (!at::equal(found, known)) refuse(files, name, "is another code book than bitsandbytes'");
}

at::Tensor read_four(WeightFiles& files, const std::string& name, const std::string& state_name,
                     const ParameterShape& matrix, const Quantization& quantization) {
    const json state = state_of(files, state_name);
    if (const std::string problem = difference(state, matrix, quantization); !problem.empty())
        refuse(files, state_name, problem);
    const QuantizedLayout layout = quantized_layout(quantization, matrix.shape[0], matrix.shape[1]);
    at::Tensor bytes = at::zeros({layout.bytes}, at::kByte);
    const QuantizedParts parts = parts_of(bytes, quantization, layout);
    const CodeBook16& book = quantization.format == WeightFormat::Fp4 ? fp4_book() : nf4_book();
    check_book(files, name + ".quant_map", book.values, 16);
    parts.codes.copy_(flat(files, name, at::kByte, parts.codes.numel()));
    parts.scales.copy_(flat(files, name + ".absmax", parts.scales.scalar_type(), layout.blocks));
    QuantizedTail tail{0, static_cast<int32_t>(dtype_of(state))};
    if (quantization.nested) {
        parts.map.copy_(flat(files, name + ".nested_quant_map", at::kFloat, kScaleMap));
        parts.nested.copy_(flat(files, name + ".nested_absmax", at::kFloat, layout.nested_blocks));
        tail.offset = static_cast<float>(state["nested_offset"].get<double>());
    }
    put_tail(bytes, layout, tail);
    return bytes;
}

at::Tensor read_eight(WeightFiles& files, const std::string& name, const ParameterShape& matrix,
                      const Quantization& quantization) {
    const QuantizedLayout layout = quantized_layout(quantization, matrix.shape[0], matrix.shape[1]);
    at::Tensor bytes = at::zeros({layout.bytes}, at::kByte);
    const QuantizedParts parts = parts_of(bytes, quantization, layout);
    files.check_shape(name, matrix.shape);
    parts.codes.copy_(flat(files, name, at::kChar, layout.elements()).view(parts.codes.sizes()));
    const std::string scales = name.substr(0, name.size() - std::string("weight").size()) + "SCB";
    parts.scales.copy_(flat(files, scales, at::kFloat, layout.rows));
    put_tail(bytes, layout, {0, static_cast<int32_t>(at::kHalf)});
    return bytes;
}

}  // namespace

at::Tensor read_quantized(WeightFiles& files, const ParameterShape& matrix,
                          const Quantization& quantization) {
    const std::string name = files.name_of(matrix);
    for (const WeightFormat format : {WeightFormat::Nf4, WeightFormat::Fp4}) {
        const std::string state = name + ".quant_state.bitsandbytes__" + to_string(format);
        if (!files.has(state)) continue;
        if (!quantization.is_4bit()) refuse(files, name, "is of 4 bits, the run asks for 8");
        return read_four(files, name, state, matrix, quantization);
    }
    if (files.info(name).dtype != "I8") return {};
    if (quantization.is_4bit()) refuse(files, name, "is of 8 bits, the run asks for 4");
    return read_eight(files, name, matrix, quantization);
}

namespace {

at::Tensor dequantized(const at::Tensor& bytes, const std::vector<int64_t>& shape,
                       const Quantization& quantization, at::ScalarType dtype) {
    at::Tensor values = at::empty(shape, dtype);
    dequantize(bytes, quantization, quantized_layout(quantization, shape[0], shape[1]), values);
    return values;
}

}  // namespace

at::Tensor rounded(const at::Tensor& weight_oc, const Quantization& quantization, at::ScalarType dtype) {
    return dequantized(quantize(weight_oc.to(dtype), quantization), weight_oc.sizes().vec(), quantization,
                       dtype);
}

at::Tensor read_rounded(WeightFiles& files, const ParameterShape& matrix, const Quantization& quantization,
                        at::ScalarType dtype) {
    const at::Tensor bytes = read_quantized(files, matrix, quantization);
    if (bytes.defined()) return dequantized(bytes, matrix.shape, quantization, dtype);
    files.check_shape(files.name_of(matrix), matrix.shape);
    return rounded(files.mapped(files.name_of(matrix)), quantization, dtype);
}

}  // namespace ringmaster
