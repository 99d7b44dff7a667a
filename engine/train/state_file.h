/// Optimizer states in a checkpoint: whole parameters, whoever holds them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/files/safetensors.h"
#include "engine/train/stored_state.h"

namespace ringmaster {

class StateFile {
  public:
    StateFile(Parameters& parameters, bool writes) : parameters_(parameters), writes_(writes) {}
    /// States in the order of the file; they live until it is written.
    void add(const std::string& name, size_t parameter, const StoredState& state);
    /// A tensor that every rank holds whole.
    void add_whole(const std::string& name, const std::vector<int64_t>& shape, const at::Tensor& values);
    /// All ranks that share states together.
    std::optional<WrittenFile> write(const std::filesystem::path& file);

  private:
    struct Entry {
        TensorInfo info;
        FlatRange own;  ///< bytes of it that this rank adds
        at::Tensor bytes;
    };
    at::Tensor whole(const Entry& entry);

    Parameters& parameters_;
    bool writes_;
    std::vector<Entry> entries_;
};

/// What this rank owns of a parameter's state. Throws Error naming what the file lacks.
void read_state(const SafetensorsFile& file, const Parameters& parameters, const std::string& name,
                size_t parameter, StoredState& state);

/// A tensor that every rank holds whole, into `values`.
void read_whole(const SafetensorsFile& file, const std::string& name, at::Tensor& values);

}  // namespace ringmaster
