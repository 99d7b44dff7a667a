// Encodes TensorBoard's event files by hand: they use only a few protobuf fields
// (tensorflow/core/util/event.proto and framework/summary.proto: Event{double wall_time = 1; int64 step = 2;
// string file_version = 3; Summary summary = 5}, Summary{repeated Value value = 1}, Value{string tag = 1;
// float simple_value = 2}), framed as records.
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "engine/events/step_fields.h"
#include "engine/files/crc32c.h"
#include "engine/files/durable.h"
#include "launcher/base/files.h"
#include "launcher/history/export.h"
#include "launcher/history/figures.h"
#include "launcher/run/recorded_run.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFileName =
    "events.out.tfevents.0000000000.ringmaster";  // a fixed name, so that a repeated export replaces it

template <class Value>
std::string little_endian(Value value) {
    static_assert(std::endian::native == std::endian::little);
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

uint32_t masked_crc(const std::string& data) {
    const uint32_t crc = crc32c(0, data.data(), data.size());
    return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U;
}

// Protobuf's wire types.
enum class Wire : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

std::string varint(uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
    return bytes + static_cast<char>(value);
}

std::string field(int number, Wire wire, const std::string& payload) {
    const std::string tag = varint(static_cast<uint64_t>(number) << 3 | static_cast<uint64_t>(wire));
    return wire == Wire::Bytes ? tag + varint(payload.size()) + payload : tag + payload;
}

class EventFile {
  public:
    explicit EventFile(const fs::path& folder) : file_(made(folder) / kFileName) {
        add(0, field(3, Wire::Bytes, "brain.Event:2"));
    }

    void scalar(double t, int64_t step, const std::string& tag, double value) {
        const std::string one =
            field(1, Wire::Bytes, tag) + field(2, Wire::Fixed32, little_endian(static_cast<float>(value)));
        add(t, field(2, Wire::Varint, varint(static_cast<uint64_t>(step))) +
                   field(5, Wire::Bytes, field(1, Wire::Bytes, one)));
        ++points_;
    }
    /// Writes what is left and renames the file into place. Returns the number of values written.
    int64_t finish() {
        flush();
        file_.appear();
        return points_;
    }

  private:
    static const fs::path& made(const fs::path& folder) {
        make_folder(folder);
        return folder;
    }
    void add(double t, const std::string& rest) {
        constexpr size_t kFlushBytes = size_t{1} << 20;
        content_ += tensorboard_record(field(1, Wire::Fixed64, little_endian(t)) + rest);
        if (content_.size() > kFlushBytes) flush();
    }
    void flush() {
        file_.write(content_.data(), content_.size());
        content_.clear();
    }

    DurableFile file_;
    std::string content_;
    int64_t points_ = 0;
};

void add_rank_step(EventFile& file, const Timed<StepEvent>& step) {
    const StepEvent& e = step.event;
    auto add = [&](const char* tag, double value) { file.scalar(step.t, e.step, tag, value); };
    if (e.rank_loss) add("rank_loss", *e.rank_loss);
    add("rank_valid_tokens", static_cast<double>(e.rank_valid_tokens));
    add("step_s", e.step_s);
    add("compute_s", e.compute_s);
    add("comm_s", e.comm_s);
    add("exposed_comm_s", e.exposed_comm_s);
    add("data_s", e.data_s);
    if (const auto overhead = sums_of(e).overhead()) add("overhead", *overhead);
    add("comm_bytes", static_cast<double>(e.comm_bytes));
    add("memory_bytes", static_cast<double>(e.memory_bytes));
    add("peak_memory_bytes", static_cast<double>(e.peak_memory_bytes));
}

/// Adds the figures that only some runs have.
struct RareTags {
    EventFile& file;
    double t;
    int64_t step;

    void if_any(const char* tag, const std::optional<double>& value) const {
        if (value) file.scalar(t, step, tag, *value);
    }
    void if_any(const std::string& tag, const std::map<std::string, double>& values) const {
        for (const auto& [name, value] : values) file.scalar(t, step, tag + "/" + name, value);
    }
};

void add_global_step(EventFile& file, const Timed<StepEvent>& step) {
    const StepEvent& e = step.event;
    auto add = [&](const char* tag, double value) { file.scalar(step.t, e.step, tag, value); };
    add("loss", e.loss);
    if (e.router_loss) add("router_loss", *e.router_loss);
    add("lr", e.lr);
    add("grad_norm", e.grad_norm);
    add("epoch", e.epoch);
    add("tokens", static_cast<double>(e.tokens));
    add("valid_tokens", static_cast<double>(e.valid_tokens));
    add("tokens_per_s", e.tokens_per_s);
    RareTags tags{file, step.t, e.step};
    each_field(tags, e.preference);
    each_field(tags, e.sampling);
}

/// Returns the folder of a rank's events: "rank_00003".
std::string rank_folder(int rank) {
    const std::string file = event_file_name(rank);  // rank-00003.jsonl
    return "rank_" + file.substr(5, file.find('.') - 5);
}

/// Throws Error if `dir` holds anything but an earlier export.
void require_own_folder(const fs::path& dir) {
    if (!fs::exists(dir)) return;
    if (!fs::is_directory(dir))
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "is a file; TensorBoard reads a folder",
                    dir.string());
    for (const fs::directory_entry& entry : fs::directory_iterator(dir)) {
        if (fs::exists(entry.path() / kFileName)) continue;
        throw Error(Failure::Refused, Code("OUTPUT-OCCUPIED"),
                    "holds something else than an earlier export: " + entry.path().filename().string(),
                    dir.string(), "name a new folder");
    }
}

}  // namespace

std::string tensorboard_record(const std::string& data) {
    const std::string length = little_endian(static_cast<uint64_t>(data.size()));
    return length + little_endian(masked_crc(length)) + data + little_endian(masked_crc(data));
}

Exported export_tensorboard(const RunDirectory& run, const fs::path& dir) {
    require_own_folder(dir);
    const std::vector<int> ranks = recorded_ranks(run);
    Exported exported{dir, static_cast<int64_t>(ranks.size()), 0};
    EventFile global(dir / "global");
    for_each_step(run, {ranks.front()},
                  [&](int, const Timed<StepEvent>& step) { add_global_step(global, step); });
    for_each_evaluation(run, ranks.front(), [&](const Timed<EvalEvent>& eval) {
        global.scalar(eval.t, eval.event.step, "eval_loss", eval.event.loss);
        global.scalar(eval.t, eval.event.step, "eval_tokens", static_cast<double>(eval.event.tokens));
    });
    exported.points = global.finish();
    for (const int rank : ranks) {
        EventFile own(dir / rank_folder(rank));
        for_each_step(run, {rank}, [&](int, const Timed<StepEvent>& step) { add_rank_step(own, step); });
        exported.points += own.finish();
    }
    return exported;
}

}  // namespace ringmaster
