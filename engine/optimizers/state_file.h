/// Stores optimizer states in a checkpoint: whole parameters, gathered from all ranks.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/files/safetensors.h"
#include "engine/optimizers/stored_state.h"

namespace ringmaster {

class StateFile {
  public:
    StateFile(Parameters& parameters, bool writes) : parameters_(parameters), writes_(writes) {}
    /// Adds states in the order of the file; they must live until it is written.
    void add(const std::string& name, size_t parameter, const StoredState& state);
    /// Adds a tensor that every rank holds completely.
    void add_whole(const std::string& name, const std::vector<int64_t>& shape, const at::Tensor& values);
    /// Writes the file. All ranks that share states take part.
    std::optional<WrittenFile> write(const std::filesystem::path& file);

  private:
    struct Entry {
        TensorInfo info;
        FlatRange own;                      ///< this rank's bytes in the tensor
        std::function<at::Tensor()> bytes;  ///< reads this rank's bytes
    };
    at::Tensor whole(const Entry& entry);

    Parameters& parameters_;
    bool writes_;
    std::vector<Entry> entries_;
};

/// Reads this rank's part of a parameter's state. Throws Error with the name of a missing tensor.
void read_state(const SafetensorsFile& file, const Parameters& parameters, const std::string& name,
                size_t parameter, StoredState& state);

/// Reads a tensor that every rank holds completely into `values`.
void read_whole(const SafetensorsFile& file, const std::string& name, at::Tensor& values);

}  // namespace ringmaster
