// Reads parameters from a Hugging Face folder and writes them to one.
#include <ATen/ATen.h>

#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "engine/error.h"
#include "engine/families/stored_tensors.h"
#include "engine/files/safetensors.h"
#include "engine/model/dtypes.h"
#include "engine/model/quantized_base.h"
#include "engine/model/save_model.h"
#include "engine/model/weight_files.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;

void refuse_codes(WeightFiles& files, const at::Tensor& values, const std::string& name) {
    if (values.is_floating_point()) return;
    throw Error(
        Failure::Refused, Code("MODEL-WEIGHTS"),
        "tensor '" + name + "' has dtype " + files.info(name).dtype + "; F32, F16, BF16 and F64 are read",
        files.path_of(name));
}

/// Reads elements [begin, end) of a parameter from the tensors that hold its parts.
void read_parts(WeightFiles& files, const ParameterShape& parameter, FlatRange elements, at::Tensor into) {
    const std::vector<int64_t> shape = parameter.part_shape();
    const int64_t size = c10::multiply_integers(shape);
    for (size_t p = 0; p < parameter.stored.parts.size(); ++p) {
        const int64_t first = static_cast<int64_t>(p) * size;
        const int64_t begin = std::max(elements.begin, first), end = std::min(elements.end, first + size);
        const std::string name = files.name_of(parameter.stored.parts[p]);
        files.check_shape(name, shape);
        if (begin >= end) continue;
        const at::Tensor values = files.mapped(name);
        refuse_codes(files, values, name);
        into.narrow(0, begin - elements.begin, end - begin)
            .copy_(values.view({-1}).narrow(0, begin - first, end - begin));
    }
}

/// Reads elements [begin, end) of a parameter.
void read_tensor(WeightFiles& files, const ParameterShape& parameter, FlatRange elements, at::Tensor into) {
    if (files.is_in_parts(parameter)) return read_parts(files, parameter, elements, into);
    if (files.is_in_codes(parameter)) {
        constexpr int64_t kAtOnce = int64_t{16} << 20;
        for (int64_t begin = elements.begin; begin < elements.end; begin += kAtOnce) {
            const int64_t end = std::min(begin + kAtOnce, elements.end);
            into.narrow(0, begin - elements.begin, end - begin).copy_(files.decoded(parameter, begin, end));
        }
        return;
    }
    const at::Tensor values = files.values_of(parameter);
    refuse_codes(files, values, files.name_of(parameter));
    into.copy_(values.view({-1}).narrow(0, elements.begin, elements.size()));
}

/// One tensor of a saved model; if `stored` is not set, the tensor is copied from the base.
struct FileTensor {
    TensorInfo info;
    std::optional<StoredTensor> stored;
};

/// Removes a parameter's parts if the base stores the parameter in one tensor, so that it is saved in one
/// tensor too.
std::vector<ParameterShape> as_in_base(std::vector<ParameterShape> shapes, WeightFiles* base) {
    for (ParameterShape& shape : shapes)
        if (base != nullptr && !base->find(shape.file_name()).empty()) shape.stored.parts.clear();
    return shapes;
}

/// `base` may be null.
std::vector<FileTensor> file_tensors(const Parameters& parameters, at::ScalarType dtype, WeightFiles* base) {
    std::vector<FileTensor> tensors;
    for (const StoredTensor& tensor : stored_tensors(as_in_base(parameters.shapes(), base))) {
        const std::string known = base != nullptr ? base->find(tensor.name) : "";
        tensors.push_back(
            {{known.empty() ? tensor.name : known, stored_name_of(dtype), tensor.shape}, tensor});
    }
    if (base == nullptr) return tensors;
    for (TensorInfo& other : other_tensors(*base, parameters.shapes()))
        tensors.push_back({std::move(other), std::nullopt});
    return tensors;
}

/// Returns the tensors of each shard, in order.
std::vector<std::vector<FileTensor>> shards_of(std::vector<FileTensor> tensors, int64_t shard_bytes) {
    std::vector<std::vector<FileTensor>> shards(1);
    int64_t filled = 0;
    for (FileTensor& tensor : tensors) {
        const int64_t bytes = tensor.info.bytes();
        if (filled > 0 && filled + bytes > shard_bytes) {
            shards.emplace_back();
            filled = 0;
        }
        shards.back().push_back(std::move(tensor));
        filled += bytes;
    }
    return shards;
}

std::string shard_name(const std::string& stem, size_t shard, size_t count) {
    if (count == 1) return stem + ".safetensors";
    char number[64];
    std::snprintf(number, sizeof number, "-%05zu-of-%05zu.safetensors", shard + 1, count);
    return stem + number;
}

WrittenFile write_shard(WholeValues& master, WeightFiles* base, const fs::path& path,
                        const std::vector<FileTensor>& tensors, at::ScalarType dtype) {
    std::vector<TensorInfo> infos;
    for (const FileTensor& tensor : tensors) infos.push_back(tensor.info);
    SafetensorsWriter writer(path, infos);
    for (const auto& [info, stored] : tensors) {
        if (!stored) {
            const std::span<const std::byte> copied = base->bytes(info.name);
            writer.write(copied.data(), copied.size());
            continue;
        }
        const at::Tensor part =
            master.of(stored->parameter)
                .view({static_cast<int64_t>(stored->parts), -1})[static_cast<int64_t>(stored->part)];
        const at::Tensor values = part.to(at::kCPU, dtype).contiguous();
        writer.write(values.data_ptr(), values.nbytes());
    }
    return writer.finish();
}

}  // namespace

/// Loads parameters and buffers. Buffers that the files lack keep their initial values, as in transformers.
void Parameters::load(const std::string& model_dir, InitialValues* of_head,
                      const Quantization& quantization) {
    WeightFiles files(model_dir, file_stem_);
    for (size_t i = 0; i < buffers_.size(); ++i)
        if (!files.find(buffers_[i].file_name()).empty())
            read_tensor(files, buffers_[i], {0, buffers_[i].size()}, buffer_values_[i]);
    for (size_t i = 0; i < shapes_.size(); ++i) {
        const bool is_new = of_head != nullptr &&
                            (shapes_[i].role == Role::Head || shapes_[i].role == Role::HeadBias) &&
                            files.find(shapes_[i].file_name()).empty();
        if (is_new)
            put(i, of_head->next(shapes_[i]));
        else if (is_rounded(shapes_[i], quantization))
            put(i, read_rounded(files, shapes_[i], quantization, compute_dtype()));
        else
            read_tensor(files, shapes_[i], own_elements(i), own_values(master_, i));
    }
    share_update();
}

namespace {

/// `base` may be null.
std::vector<WrittenFile> write_weights(Parameters& parameters, const std::string& dir, at::ScalarType dtype,
                                       int64_t shard_bytes, WeightFiles* base) {
    WholeValues master(parameters, parameters.master());
    std::vector<WrittenFile> written;
    const bool one_file = parameters.file_stem() != "model";  // PEFT does not support an index
    const auto shards = shards_of(file_tensors(parameters, dtype, base),
                                  one_file ? std::numeric_limits<int64_t>::max() : shard_bytes);
    nlohmann::json weight_map = nlohmann::json::object();
    int64_t bytes = 0;
    for (size_t s = 0; s < shards.size(); ++s) {
        const std::string name = shard_name(parameters.file_stem(), s, shards.size());
        written.push_back(write_shard(master, base, fs::path(dir) / name, shards[s], dtype));
        for (const FileTensor& tensor : shards[s]) {
            weight_map[tensor.info.name] = name;
            bytes += tensor.info.bytes();
        }
    }
    if (shards.size() > 1) {
        nlohmann::json index = {{"metadata", {{"total_size", bytes}}}, {"weight_map", weight_map}};
        written.push_back(write_file_durably(
            fs::path(dir) / (parameters.file_stem() + ".safetensors.index.json"), index.dump(2) + "\n"));
    }
    return written;
}

}  // namespace

std::vector<WrittenFile> save_weights(Parameters& parameters, const std::string& dir, at::ScalarType dtype,
                                      bool writes, int64_t shard_bytes) {
    if (writes) return write_weights(parameters, dir, dtype, shard_bytes, nullptr);
    WholeValues master(parameters, parameters.master());
    for (size_t i = 0; i < parameters.shapes().size(); ++i) master.of(i);
    return {};
}

std::vector<WrittenFile> save_model(Parameters& parameters, const std::string& dir, at::ScalarType dtype,
                                    const std::string& base_dir) {
    constexpr int64_t kShardBytes = 5'000'000'000;
    WeightFiles base(base_dir, parameters.file_stem());
    return write_weights(parameters, dir, dtype, kShardBytes, &base);
}

}  // namespace ringmaster
