// Measures what the checksums of a checkpoint's files cost. It writes a file of tensors as a checkpoint does,
// flushes the file to the disk and renames it. The time spent outside system calls is an upper bound of the
// checksums' cost. After each such save it writes the same bytes without checksums.
//
//   checksum_bench --folder DIR [--mib 512] [--rounds 5] [--require 0.03] [--json FILE]
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/files/crc32c.h"
#include "engine/files/safetensors.h"

namespace {

using namespace ringmaster;
using Clock = std::chrono::steady_clock;

constexpr size_t kTensor = 16 << 20;
double in_system_s = 0;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

template <typename... Arguments>
long timed_call(long call, Arguments... arguments) {
    const Clock::time_point start = Clock::now();
    const long result = syscall(call, arguments...);
    in_system_s += seconds_since(start);
    return result;
}

double save(const std::filesystem::path& file, const std::vector<char>& bytes) {
    const Clock::time_point start = Clock::now();
    std::vector<TensorInfo> infos;
    for (size_t at = 0; at < bytes.size(); at += kTensor)
        infos.push_back({"t" + std::to_string(at), "U8", {static_cast<int64_t>(kTensor)}});
    SafetensorsWriter writer(file, infos);
    for (size_t at = 0; at < bytes.size(); at += kTensor) writer.write(bytes.data() + at, kTensor);
    writer.finish();
    return seconds_since(start);
}

double save_without(const std::filesystem::path& file, const std::vector<char>& bytes) {
    const Clock::time_point start = Clock::now();
    const int out = ::open((file.string() + ".new").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    for (size_t at = 0; at < bytes.size(); at += kTensor) {
        if (::write(out, bytes.data() + at, kTensor) < 0) std::perror("write");
    }
    ::fsync(out);
    ::close(out);
    std::filesystem::rename(file.string() + ".new", file);
    return seconds_since(start);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace

// Replaces write() in this program and its libraries, so that the time spent in write() counts as the disk's.
extern "C" ssize_t write(int file, const void* bytes, size_t count) {
    return timed_call(SYS_write, file, bytes, count);
}
extern "C" int fsync(int file) {
    return static_cast<int>(timed_call(SYS_fsync, file));
}

int main(int argc, char** argv) {
    std::map<std::string, std::string> given = {{"--mib", "512"}, {"--rounds", "5"}, {"--require", "1"}};
    for (int i = 1; i + 1 < argc; i += 2) given[argv[i]] = argv[i + 1];
    const std::filesystem::path file =
        std::filesystem::path(given["--folder"]) / "checksum_bench.safetensors";
    std::vector<char> bytes(std::max(1UL, (std::stoul(given["--mib"]) << 20) / kTensor) * kTensor);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761U >> 13);
    std::vector<double> saves, shares, plain;
    for (int round = 0; round < std::stoi(given["--rounds"]); ++round) {
        in_system_s = 0;
        saves.push_back(save(file, bytes));
        shares.push_back(1 - in_system_s / saves.back());
        plain.push_back(save_without(file, bytes));
    }
    std::filesystem::remove(file);
    const double share =
        *std::min_element(shares.begin(), shares.end());  // the round that other programs disturbed least
    const Clock::time_point start = Clock::now();
    const uint32_t sum = crc32c(0, bytes.data(), bytes.size());
    const double sum_s = seconds_since(start), gigabytes = 1e-9 * static_cast<double>(bytes.size());
    const nlohmann::ordered_json report = {{"bytes", bytes.size()},
                                           {"share", share},
                                           {"save_s", median(saves)},
                                           {"save_without_s", median(plain)},
                                           {"save_gb_per_s", gigabytes / median(saves)},
                                           {"checksum_gb_per_s", gigabytes / sum_s},
                                           {"crc32c", sum}};
    std::printf("%s\n", report.dump().c_str());
    if (given.contains("--json")) std::ofstream(given["--json"]) << report.dump(2) << "\n";
    return share <= std::stod(given["--require"]) ? 0 : 1;
}
