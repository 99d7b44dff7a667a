// Reads parameters from a Hugging Face folder and writes them to one.
#include <ATen/ATen.h>

#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/error.h"
#include "engine/families/stored_tensors.h"
#include "engine/files/safetensors.h"
#include "engine/model/dtypes.h"
#include "engine/model/parameters.h"
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
    const int64_t size = shape[0] * shape[1];
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
    const bool in_parts = !parameter.stored.parts.empty() && files.find(parameter.file_name()).empty();
    if (in_parts) return read_parts(files, parameter, elements, into);
    const at::Tensor values = files.values_of(parameter);
    refuse_codes(files, values, files.name_of(parameter));
    into.copy_(values.view({-1}).narrow(0, elements.begin, elements.size()));
}

int64_t elements_of(const StoredTensor& tensor) {
    return std::accumulate(tensor.shape.begin(), tensor.shape.end(), int64_t{1}, std::multiplies<>());
}

/// Returns the tensors of each shard, in order.
std::vector<std::vector<StoredTensor>> shards_of(const Parameters& parameters, int64_t element_bytes,
                                                 int64_t shard_bytes) {
    std::vector<std::vector<StoredTensor>> shards(1);
    int64_t filled = 0;
    for (StoredTensor& tensor : stored_tensors(parameters.shapes())) {
        const int64_t bytes = elements_of(tensor) * element_bytes;
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

WrittenFile write_shard(WholeValues& master, const fs::path& path, const std::vector<StoredTensor>& tensors,
                        at::ScalarType dtype) {
    std::vector<TensorInfo> infos;
    for (const StoredTensor& tensor : tensors)
        infos.push_back({tensor.name, stored_name_of(dtype), tensor.shape});
    SafetensorsWriter writer(path, infos);
    for (const StoredTensor& tensor : tensors) {
        const at::Tensor part =
            master.of(tensor.parameter)
                .view({static_cast<int64_t>(tensor.parts), -1})[static_cast<int64_t>(tensor.part)];
        const at::Tensor values = part.to(at::kCPU, dtype).contiguous();
        writer.write(values.data_ptr(), values.nbytes());
    }
    return writer.finish();
}

}  // namespace

void Parameters::load(const std::string& model_dir) {
    WeightFiles files(model_dir, file_stem_);
    for (size_t i = 0; i < shapes_.size(); ++i)
        read_tensor(files, shapes_[i], own_elements(i), own_values(master_, i));
    share_update();
}

std::vector<WrittenFile> save_weights(Parameters& parameters, const std::string& dir, at::ScalarType dtype,
                                      bool writes, int64_t shard_bytes) {
    WholeValues master(parameters, parameters.master());
    if (!writes) {
        for (size_t i = 0; i < parameters.shapes().size(); ++i) master.of(i);
        return {};
    }
    std::vector<WrittenFile> written;
    const auto element_bytes = static_cast<int64_t>(c10::elementSize(dtype));
    const bool one_file = parameters.file_stem() != "model";  // PEFT does not support an index
    const auto shards =
        shards_of(parameters, element_bytes, one_file ? std::numeric_limits<int64_t>::max() : shard_bytes);
    nlohmann::json weight_map = nlohmann::json::object();
    for (size_t s = 0; s < shards.size(); ++s) {
        const std::string name = shard_name(parameters.file_stem(), s, shards.size());
        written.push_back(write_shard(master, fs::path(dir) / name, shards[s], dtype));
        for (const StoredTensor& tensor : shards[s]) weight_map[tensor.name] = name;
    }
    if (shards.size() > 1) {
        nlohmann::json index = {{"metadata", {{"total_size", parameters.count() * element_bytes}}},
                                {"weight_map", weight_map}};
        written.push_back(write_file_durably(
            fs::path(dir) / (parameters.file_stem() + ".safetensors.index.json"), index.dump(2) + "\n"));
    }
    return written;
}

}  // namespace ringmaster
