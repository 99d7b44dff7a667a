/// Finds the tensors of a Hugging Face folder by name, in model.safetensors or in shards listed by an
/// index.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/families/model_config.h"
#include "engine/files/safetensors.h"

namespace ringmaster {

class WeightFiles {
  public:
    /// `stem` is "model" or "adapter_model". Throws Error(Usage) if there is no such file, and Error(Refused)
    /// with the name of a damaged file.
    WeightFiles(const std::filesystem::path& dir, const std::string& stem);

    const std::filesystem::path& dir() const { return dir_; }
    std::vector<std::string> names() const;  ///< names of all tensors, ascending
    bool has(const std::string& name) const { return files_.contains(name); }
    /// Returns a parameter's name in the folder: some folders leave out the leading "model.", and multimodal
    /// models have had several prefixes. Returns an empty name if the folder lacks the parameter.
    std::string find(const std::string& name) const;
    /// Returns the name that find() returns; throws Error(Refused) if there is none.
    std::string name_of(const std::string& name) const;

    /// Returns the name of the tensor that holds a parameter.
    std::string name_of(const ParameterShape& parameter) const { return name_of(parameter.file_name()); }
    /// Returns whether several tensors hold the parameter.
    bool is_in_parts(const ParameterShape& parameter) const {
        return !parameter.stored.parts.empty() && find(parameter.file_name()).empty();
    }
    /// Returns whether MXFP4 codes hold the parameter (engine/model/mxfp4.h).
    bool is_in_codes(const ParameterShape& parameter) const {
        return parameter.shape.size() == 3 && find(parameter.file_name()).empty() &&
               !find(parameter.file_name() + "_blocks").empty();
    }
    /// Returns a parameter: a view as mapped() does, or a copy made from its parts or its codes. Throws
    /// Error(Refused) if the shape differs.
    at::Tensor values_of(const ParameterShape& parameter);
    /// Returns elements [begin, end) of a parameter that codes hold, in float32.
    at::Tensor decoded(const ParameterShape& parameter, int64_t begin, int64_t end);

    const TensorInfo& info(const std::string& name);
    /// Throws Error(Refused) if the tensor has another shape.
    void check_shape(const std::string& name, const std::vector<int64_t>& shape);
    /// Returns a view of the mapped file in its dtype (F32, BF16, F16, F64, U8, I8), valid as long as this
    /// object.
    at::Tensor mapped(const std::string& name);
    std::span<const std::byte> bytes(const std::string& name) { return file_of(name).bytes(name); }
    /// Returns the path of the tensor's file, for messages.
    std::string path_of(const std::string& name) const { return files_.at(name).string(); }

  private:
    SafetensorsFile& file_of(const std::string& name);

    std::filesystem::path dir_;
    std::map<std::string, std::filesystem::path> files_;
    std::map<std::filesystem::path, std::unique_ptr<SafetensorsFile>> open_;
};

/// Returns the base's tensors that hold no parameter, and no part of a quantised one. Skips a head that is
/// stored although it is tied.
std::vector<TensorInfo> other_tensors(WeightFiles& base, const std::vector<ParameterShape>& shapes);

}  // namespace ringmaster
