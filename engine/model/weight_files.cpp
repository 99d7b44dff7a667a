#include "engine/model/weight_files.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "engine/error.h"
#include "engine/json_problem.h"
#include "engine/model/mxfp4.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;

const std::map<std::string, at::ScalarType> kDtypes = {{"F32", at::kFloat}, {"BF16", at::kBFloat16},
                                                       {"F16", at::kHalf},  {"F64", at::kDouble},
                                                       {"U8", at::kByte},   {"I8", at::kChar}};

/// Returns the file of each tensor in the folder; `stem` as in WeightFiles.
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
            throw Error(Failure::Refused, Code("MODEL-WEIGHTS"), "is damaged: " + json_problem(problem),
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

}  // namespace

WeightFiles::WeightFiles(const fs::path& dir, const std::string& stem)
    : dir_(dir), files_(files_of(dir, stem)) {}

std::vector<std::string> WeightFiles::names() const {
    std::vector<std::string> names;
    for (const auto& [name, file] : files_) names.push_back(name);
    return names;
}

std::string WeightFiles::find(const std::string& name) const {
    if (has(name)) return name;
    if (name.starts_with("model.") && has(name.substr(6))) return name.substr(6);
    if (has("language_model." + name)) return "language_model." + name;
    constexpr std::string_view kWrapped = "model.language_model.";
    const std::string former = "language_model.model." + name.substr(std::min(kWrapped.size(), name.size()));
    return name.starts_with(kWrapped) && has(former) ? former : "";
}

std::string WeightFiles::name_of(const std::string& name) const {
    const std::string found = find(name);
    if (!found.empty()) return found;
    throw Error(Failure::Refused, Code("MODEL-WEIGHTS"), "the weights lack '" + name + "'", dir_.string(),
                name.find(".lora_") == std::string::npos
                    ? "the folder's config.json and weights must belong to the same model"
                    : "lora_target_modules must be those that the adapter was trained with");
}

SafetensorsFile& WeightFiles::file_of(const std::string& name) {
    std::unique_ptr<SafetensorsFile>& file = open_[files_.at(name)];
    if (!file) file = std::make_unique<SafetensorsFile>(files_.at(name));
    return *file;
}

at::Tensor WeightFiles::values_of(const ParameterShape& parameter) {
    if (is_in_parts(parameter)) {
        std::vector<at::Tensor> parts;
        for (const std::string& part : parameter.stored.parts) {
            check_shape(name_of(part), parameter.part_shape());
            parts.push_back(mapped(name_of(part)));
        }
        return at::cat(parts).view(parameter.shape);
    }
    if (is_in_codes(parameter)) return decoded(parameter, 0, parameter.size()).view(parameter.shape);
    const std::string name = name_of(parameter);
    check_shape(name, parameter.shape);
    return mapped(name);
}

at::Tensor WeightFiles::decoded(const ParameterShape& parameter, int64_t begin, int64_t end) {
    const std::string blocks = name_of(parameter.file_name() + "_blocks"),
                      scales = name_of(parameter.file_name() + "_scales");
    if (parameter.shape[1] % kMxfp4Group != 0)
        throw Error(Failure::Refused, Code("MODEL-WEIGHTS"),
                    "tensor '" + blocks + "' has MXFP4 codes for groups of " + std::to_string(kMxfp4Group) +
                        " inputs, but its parameter has " + std::to_string(parameter.shape[1]),
                    path_of(blocks));
    const int64_t groups = parameter.shape[1] / kMxfp4Group;
    check_shape(scales, {parameter.shape[0], parameter.shape[2], groups});
    check_shape(blocks, {parameter.shape[0], parameter.shape[2], groups, kMxfp4Group / 2});
    for (const std::string& name : {blocks, scales}) {
        if (info(name).dtype == "U8") continue;
        throw Error(Failure::Refused, Code("MODEL-WEIGHTS"),
                    "tensor '" + name + "' has dtype " + info(name).dtype + "; MXFP4 is read as U8",
                    path_of(name));
    }
    return mxfp4_values(mapped(blocks), mapped(scales), begin, end);
}

const TensorInfo& WeightFiles::info(const std::string& name) {
    return file_of(name).info(name);
}

void WeightFiles::check_shape(const std::string& name, const std::vector<int64_t>& shape) {
    const TensorInfo& held = info(name);
    if (held.shape == shape) return;
    throw Error(Failure::Refused, Code("MODEL-WEIGHTS"),
                "tensor '" + name + "' is " + nlohmann::json(held.shape).dump() +
                    (name.find(".lora_") == std::string::npos ? ", config.json makes it "
                                                              : ", lora_r and config.json make it ") +
                    nlohmann::json(shape).dump(),
                path_of(name));
}

at::Tensor WeightFiles::mapped(const std::string& name) {
    const SafetensorsFile& file = file_of(name);
    const TensorInfo& info = file.info(name);
    const auto dtype = kDtypes.find(info.dtype);
    if (dtype == kDtypes.end()) {
        throw Error(
            Failure::Refused, Code("MODEL-WEIGHTS"),
            "tensor '" + name + "' has dtype " + info.dtype + "; F32, F16, BF16, F64, U8 and I8 are read",
            file.path().string());
    }
    void* bytes = const_cast<std::byte*>(file.bytes(name).data());
    return at::from_blob(bytes, info.shape, at::TensorOptions().dtype(dtype->second));
}

namespace {

/// Returns the name of the quantised matrix to which this tensor of bitsandbytes belongs; empty if there is
/// none.
std::string quantized_matrix_of(const std::string& name) {
    constexpr std::string_view kWeight = ".weight.";
    if (const size_t at = name.find(kWeight); at != std::string::npos)
        return name.substr(0, at + kWeight.size() - 1);
    for (const std::string_view part : {".SCB", ".weight_format"})
        if (name.ends_with(part)) return name.substr(0, name.size() - part.size()) + ".weight";
    return "";
}

}  // namespace

std::vector<TensorInfo> other_tensors(WeightFiles& base, const std::vector<ParameterShape>& shapes) {
    std::set<std::string> held;
    for (const ParameterShape& shape : shapes) {
        held.insert(base.find(shape.file_name()));
        for (const std::string& part : shape.stored.parts) held.insert(base.find(part));
        for (const char* codes : {"_blocks", "_scales"}) held.insert(base.find(shape.file_name() + codes));
    }
    held.erase("");  // find() returns "" for names that the base lacks
    std::vector<TensorInfo> others;
    for (const std::string& name : base.names()) {
        const bool is_held = held.contains(name) || held.contains(quantized_matrix_of(name));
        if (!is_held && !name.ends_with("lm_head.weight")) others.push_back(base.info(name));
    }
    return others;
}

}  // namespace ringmaster
