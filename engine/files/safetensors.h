/// Reads the safetensors format by mapping files, and writes it in one pass. It needs no tensor library: data
/// are bytes, and dtypes are the format's names.
///
/// Layout: 8 bytes of header length (little-endian), a JSON header {name: {"dtype", "shape", "data_offsets":
/// [begin, end]}}, then the data. Source: the format's description in the safetensors project.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/files/durable.h"

namespace ringmaster {

struct TensorInfo {
    std::string name;
    std::string dtype;  ///< "F32", "BF16", "F16", "I32", "I64", …
    std::vector<int64_t> shape;

    int64_t elements() const;
    int64_t bytes() const;  ///< throws Error(Refused) if the dtype is unknown
};

class SafetensorsFile {
  public:
    /// Maps the file. Throws Error(Usage) if it is missing, and Error(Refused), with file and tensor, if it
    /// is truncated or damaged.
    explicit SafetensorsFile(const std::filesystem::path& path);
    ~SafetensorsFile();
    SafetensorsFile(const SafetensorsFile&) = delete;
    SafetensorsFile& operator=(const SafetensorsFile&) = delete;

    const std::filesystem::path& path() const { return path_; }
    const std::map<std::string, TensorInfo>& tensors() const { return tensors_; }
    const TensorInfo& info(const std::string& name) const;  ///< throws Error(Refused) if it is missing
    std::span<const std::byte> bytes(const std::string& name) const;

    /// Returns the tensor's elements as T; throws if its dtype is not `dtype`.
    template <typename T>
    std::span<const T> elements(const std::string& name, const std::string& dtype) const {
        check_dtype(name, dtype);
        std::span<const std::byte> raw = bytes(name);
        return {reinterpret_cast<const T*>(raw.data()), raw.size() / sizeof(T)};
    }

  private:
    void check_dtype(const std::string& name, const std::string& dtype) const;
    void read_header();

    std::filesystem::path path_;
    const std::byte* data_ = nullptr;  ///< mapped file
    size_t size_ = 0;
    size_t data_begin_ = 0;
    std::map<std::string, TensorInfo> tensors_;
    std::map<std::string, std::pair<size_t, size_t>> offsets_;
};

/// Writes tensors in the announced order with DurableFile, so that the file appears when finish() is called.
class SafetensorsWriter {
  public:
    SafetensorsWriter(const std::filesystem::path& path, const std::vector<TensorInfo>& tensors);

    /// Appends the next bytes of the data; a tensor may come in pieces. Throws Error(Refused), for example if
    /// the disk is full.
    void write(const void* bytes, size_t count);
    WrittenFile finish();  ///< flushes the file to the disk

  private:
    DurableFile file_;
    size_t remaining_ = 0;
};

}  // namespace ringmaster
