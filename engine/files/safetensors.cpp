#include "engine/files/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/json_problem.h"

namespace ringmaster {

namespace {

constexpr size_t kMaxHeaderBytes = 100 << 20;

int64_t dtype_bytes(const std::string& dtype, const std::string& where) {
    if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
    if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
    if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
    if (dtype == "I8" || dtype == "U8" || dtype == "BOOL" || dtype.starts_with("F8_")) return 1;
    throw Error(Failure::Refused, Code("FILE-DAMAGED"), "dtype '" + dtype + "' is not one that is read here",
                where);
}

std::string header_text(const std::vector<TensorInfo>& tensors) {
    nlohmann::ordered_json header;
    header["__metadata__"] = {{"format", "pt"}};
    int64_t offset = 0;
    for (const TensorInfo& tensor : tensors) {
        int64_t end = offset + tensor.bytes();
        header[tensor.name] = {
            {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
        offset = end;
    }
    std::string text = header.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
}

}  // namespace

int64_t TensorInfo::elements() const {
    int64_t count = 1;
    for (int64_t dim : shape) {
        if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) {
            throw Error(Failure::Refused, Code("FILE-DAMAGED"), "has an impossible shape", name);
        }
    }
    return count;
}

int64_t TensorInfo::bytes() const {
    int64_t count = 0;
    if (__builtin_mul_overflow(elements(), dtype_bytes(dtype, name), &count)) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "has an impossible shape", name);
    }
    return count;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path) {
    int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        throw Error(Failure::Usage, Code("FILE-MISSING"),
                    std::string("cannot be opened: ") + std::strerror(errno), path.string());
    struct stat status {};
    if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        ::close(file);
        throw Error(Failure::Usage, Code("FILE-MISSING"), "is not a file", path.string());
    }
    size_ = static_cast<size_t>(status.st_size);
    if (size_ >= 8) {
        void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
        data_ = mapped == MAP_FAILED ? nullptr : static_cast<const std::byte*>(mapped);
    }
    ::close(file);
    if (data_ == nullptr)
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is truncated: a safetensors file has a header",
                    path.string());
    try {
        read_header();
    } catch (const nlohmann::json::exception& problem) {
        ::munmap(const_cast<std::byte*>(data_), size_);
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "has a damaged header: " + json_problem(problem),
                    path.string());
    } catch (...) {
        ::munmap(const_cast<std::byte*>(data_), size_);
        throw;
    }
}

SafetensorsFile::~SafetensorsFile() {
    ::munmap(const_cast<std::byte*>(data_), size_);
}

void SafetensorsFile::read_header() {
    uint64_t header_bytes = 0;
    std::memcpy(&header_bytes, data_, sizeof header_bytes);
    if (header_bytes > kMaxHeaderBytes || header_bytes > size_ - 8) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                    "is truncated or no safetensors file: its header should have " +
                        std::to_string(header_bytes) + " bytes, the file has " + std::to_string(size_),
                    path_.string());
    }
    data_begin_ = 8 + header_bytes;
    const char* text = reinterpret_cast<const char*>(data_) + 8;
    const size_t data_size = size_ - data_begin_;
    const nlohmann::json header = nlohmann::json::parse(text, text + header_bytes);
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__") continue;
        TensorInfo tensor{name, entry.at("dtype").get<std::string>(),
                          entry.at("shape").get<std::vector<int64_t>>()};
        auto begin = entry.at("data_offsets").at(0).get<size_t>();
        auto end = entry.at("data_offsets").at(1).get<size_t>();
        if (end > data_size || begin > end) {
            throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                        "is truncated: tensor '" + name + "' ends at byte " + std::to_string(end) +
                            " of the data, the file has " + std::to_string(data_size),
                        path_.string(), "copy or download the file again");
        }
        if (tensor.bytes() != static_cast<int64_t>(end - begin)) {
            throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                        "tensor '" + name + "' has a shape that does not match its bytes", path_.string());
        }
        offsets_[name] = {begin, end};
        tensors_[name] = std::move(tensor);
    }
}

const TensorInfo& SafetensorsFile::info(const std::string& name) const {
    auto found = tensors_.find(name);
    if (found == tensors_.end())
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "has no tensor '" + name + "'", path_.string());
    return found->second;
}

std::span<const std::byte> SafetensorsFile::bytes(const std::string& name) const {
    info(name);
    auto [begin, end] = offsets_.at(name);
    return {data_ + data_begin_ + begin, end - begin};
}

void SafetensorsFile::check_dtype(const std::string& name, const std::string& dtype) const {
    const TensorInfo& tensor = info(name);
    if (tensor.dtype != dtype) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                    "tensor '" + name + "' is " + tensor.dtype + ", expected " + dtype, path_.string());
    }
}

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path,
                                     const std::vector<TensorInfo>& tensors)
    : file_(path) {
    for (const TensorInfo& tensor : tensors) remaining_ += static_cast<size_t>(tensor.bytes());
    const std::string header = header_text(tensors);
    const uint64_t length = header.size();
    remaining_ += sizeof length + header.size();
    write(&length, sizeof length);
    write(header.data(), header.size());
}

void SafetensorsWriter::write(const void* bytes, size_t count) {
    file_.write(bytes, count);
    remaining_ -= count;
}

WrittenFile SafetensorsWriter::finish() {
    if (remaining_ != 0) throw std::logic_error("SafetensorsWriter: tensors announced but not written");
    return file_.appear();
}

}  // namespace ringmaster
