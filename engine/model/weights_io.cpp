// Parameters in and out of a Hugging Face folder.
#include <ATen/ATen.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/files/safetensors.h"
#include "engine/model/parameters.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;

const std::map<std::string, at::ScalarType> kDtypes = {
    {"F32", at::kFloat}, {"BF16", at::kBFloat16}, {"F16", at::kHalf}, {"F64", at::kDouble}};

/// Which file of the folder holds which tensor; `stem` as Parameters::file_stem.
std::map<std::string, fs::path> files_of(const fs::path& dir, const std::string& stem) {
    std::map<std::string, fs::path> files;
    const fs::path single = dir / (stem + ".safetensors"), index = dir / (stem + ".safetensors.index.json");
    if (fs::exists(single)) {
        SafetensorsFile file(single);
        for (const auto& [name, info] : file.tensors()) files[name] = single;
    } else if (fs::exists(index)) {
        std::ifstream text(index);
        try {
            const nlohmann::json content = nlohmann::json::parse(text);
            for (const auto& [name, file] : content.at("weight_map").items()) {
                files[name] = dir / fs::path(file.get<std::string>()).filename();
            }
        } catch (const nlohmann::json::exception& problem) {
            throw Error(Failure::Refused, Code("MODEL-WEIGHTS"), std::string("is damaged: ") + problem.what(),
                        index.string());
        }
    } else if (fs::exists(dir / "trainer_state.json")) {
        throw Error(Failure::Refused, Code("MODEL-WEIGHTS"), "holds no " + single.filename().string(),
                    dir.string(),
                    stem == "model" ? "the checkpoint is of an adapter: resume it with the same adapter keys"
                                    : "the checkpoint is of all weights: resume it without adapter");
    } else {
        throw Error(Failure::Usage, Code("MODEL-WEIGHTS"),
                    "holds neither " + single.filename().string() + " nor " + index.filename().string(),
                    dir.string(), "point base_model at a folder with weights, or set reinit_weights: true");
    }
    return files;
}

/// Some folders name a bare model's tensors without the leading "model.".
std::string name_in(const std::map<std::string, fs::path>& files, const std::string& name,
                    const fs::path& dir) {
    if (files.contains(name)) return name;
    if (name.starts_with("model.") && files.contains(name.substr(6))) return name.substr(6);
    throw Error(Failure::Refused, Code("MODEL-WEIGHTS"), "the weights lack '" + name + "'", dir.string(),
                name.find(".lora_") == std::string::npos
                    ? "the folder's config.json and weights must belong to the same model"
                    : "lora_target_modules must be those that the adapter was trained with");
}

/// Elements [begin, end) of it.
void read_tensor(const SafetensorsFile& file, const std::string& name, const std::vector<int64_t>& shape,
                 FlatRange elements, at::Tensor into) {
    const TensorInfo& info = file.info(name);
    if (info.shape != shape) {
        throw Error(Failure::Refused, Code("MODEL-WEIGHTS"),
                    "tensor '" + name + "' is " + nlohmann::json(info.shape).dump() +
                        (name.find(".lora_") == std::string::npos ? ", config.json makes it "
                                                                  : ", lora_r and config.json make it ") +
                        nlohmann::json(shape).dump(),
                    file.path().string());
    }
    auto dtype = kDtypes.find(info.dtype);
    if (dtype == kDtypes.end()) {
        throw Error(Failure::Refused, Code("MODEL-WEIGHTS"),
                    "tensor '" + name + "' has dtype " + info.dtype + "; F32, F16, BF16 and F64 are read",
                    file.path().string());
    }
    void* bytes = const_cast<std::byte*>(file.bytes(name).data());
    into.copy_(at::from_blob(bytes, {info.elements()}, at::TensorOptions().dtype(dtype->second))
                   .narrow(0, elements.begin, elements.size()));
}

/// Parameter indices of each shard, in order.
std::vector<std::vector<size_t>> shards_of(const Parameters& parameters, int64_t element_bytes,
                                           int64_t shard_bytes) {
    std::vector<std::vector<size_t>> shards(1);
    int64_t filled = 0;
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        int64_t bytes = parameters.shapes()[i].size() * element_bytes;
        if (filled > 0 && filled + bytes > shard_bytes) {
            shards.emplace_back();
            filled = 0;
        }
        shards.back().push_back(i);
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

WrittenFile write_shard(const Parameters& parameters, WholeValues& master, const fs::path& path,
                        const std::vector<size_t>& indices, at::ScalarType dtype) {
    std::vector<TensorInfo> infos;
    for (size_t i : indices) {
        infos.push_back({parameters.shapes()[i].name, dtype == at::kFloat ? "F32" : "BF16",
                         parameters.shapes()[i].shape});
    }
    SafetensorsWriter writer(path, infos);
    for (size_t i : indices) {
        at::Tensor values = master.of(i).to(at::kCPU, dtype).contiguous();
        writer.write(values.data_ptr(), values.nbytes());
    }
    return writer.finish();
}

}  // namespace

void Parameters::load(const std::string& model_dir) {
    const std::map<std::string, fs::path> files = files_of(model_dir, file_stem_);
    std::map<fs::path, std::vector<size_t>> wanted;
    for (size_t i = 0; i < shapes_.size(); ++i) {
        wanted[files.at(name_in(files, shapes_[i].name, model_dir))].push_back(i);
    }
    for (const auto& [path, indices] : wanted) {
        SafetensorsFile file(path);
        for (size_t i : indices) {
            read_tensor(file, name_in(files, shapes_[i].name, model_dir), shapes_[i].shape, own_elements(i),
                        own_values(master_, i));
        }
    }
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
    const bool one_file = parameters.file_stem() != "model";  // PEFT knows no index
    const auto shards =
        shards_of(parameters, element_bytes, one_file ? std::numeric_limits<int64_t>::max() : shard_bytes);
    nlohmann::json weight_map = nlohmann::json::object();
    for (size_t s = 0; s < shards.size(); ++s) {
        const std::string name = shard_name(parameters.file_stem(), s, shards.size());
        written.push_back(write_shard(parameters, master, fs::path(dir) / name, shards[s], dtype));
        for (size_t i : shards[s]) weight_map[parameters.shapes()[i].name] = name;
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
