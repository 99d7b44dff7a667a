/// The tensors of a Hugging Face folder by name, whichever file each lies in: model.safetensors, or shards by
/// their index.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/families/model_config.h"
#include "engine/files/safetensors.h"

namespace ringmaster {

class WeightFiles {
  public:
    /// `stem` is "model" or "adapter_model". Throws Error(Usage) if there is none, Error(Refused) naming a
    /// damaged file.
    WeightFiles(const std::filesystem::path& dir, const std::string& stem);

    const std::filesystem::path& dir() const { return dir_; }
    std::vector<std::string> names() const;  ///< of all tensors, in ascending order
    bool has(const std::string& name) const { return files_.contains(name); }
    /// A parameter's name as the folder has it: some leave out the leading "model.", and those of multimodal
    /// models have had several prefixes. Empty if it has none.
    std::string find(const std::string& name) const;
    /// As find; throws Error(Refused) if there is none.
    std::string name_of(const std::string& name) const;

    /// The tensor that holds a parameter.
    std::string name_of(const ParameterShape& parameter) const { return name_of(parameter.file_name()); }
    /// A parameter's rows of it, as `mapped`. Throws Error(Refused) if the tensor's shape is another.
    at::Tensor values_of(const ParameterShape& parameter);

    const TensorInfo& info(const std::string& name);
    /// Throws Error(Refused) if its shape is another.
    void check_shape(const std::string& name, const std::vector<int64_t>& shape);
    /// A view of the mapped file, in the file's dtype (F32, BF16, F16, F64, U8, I8); it lives as long as this
    /// object.
    at::Tensor mapped(const std::string& name);
    /// The path of the file that holds it, for messages.
    std::string path_of(const std::string& name) const { return files_.at(name).string(); }

  private:
    SafetensorsFile& file_of(const std::string& name);

    std::filesystem::path dir_;
    std::map<std::string, std::filesystem::path> files_;
    std::map<std::filesystem::path, std::unique_ptr<SafetensorsFile>> open_;
};

}  // namespace ringmaster
