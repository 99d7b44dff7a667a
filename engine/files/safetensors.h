/// The safetensors format, read by mapping and written in one pass. No tensors library: bytes, dtypes as the
/// format's words.
///
/// Layout: 8 bytes little-endian header length, a JSON header {name: {"dtype", "shape", "data_offsets":
/// [begin, end]}}, data. Source: the format's description in the safetensors project.
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
    int64_t bytes() const;  ///< throws Error(Refused) on a dtype that it does not know
};

class SafetensorsFile {
  public:
    /// Maps the file. Throws Error(Usage) missing, Error(Refused) truncated or damaged, naming the file and
    /// the tensor.
    explicit SafetensorsFile(const std::filesystem::path& path);
    ~SafetensorsFile();
    SafetensorsFile(const SafetensorsFile&) = delete;
    SafetensorsFile& operator=(const SafetensorsFile&) = delete;

    const std::filesystem::path& path() const { return path_; }
    const std::map<std::string, TensorInfo>& tensors() const { return tensors_; }
    const TensorInfo& info(const std::string& name) const;  ///< throws Error(Refused) where it is missing
    std::span<const std::byte> bytes(const std::string& name) const;

    /// The tensor as elements of T; throws where its dtype is another.
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
    const std::byte* data_ = nullptr;  ///< of the whole file
    size_t size_ = 0;
    size_t data_begin_ = 0;
    std::map<std::string, TensorInfo> tensors_;
    std::map<std::string, std::pair<size_t, size_t>> offsets_;
};

/// Writes tensors in the order announced, as DurableFile: the file appears when it is finished.
class SafetensorsWriter {
  public:
    SafetensorsWriter(const std::filesystem::path& path, const std::vector<TensorInfo>& tensors);

    /// The next bytes of the data, in order; a tensor may come in pieces. Throws Error(Refused): a full disk,
    /// say.
    void write(const void* bytes, size_t count);
    WrittenFile finish();  ///< flushes to the disk

  private:
    DurableFile file_;
    size_t remaining_ = 0;
};

}  // namespace ringmaster
