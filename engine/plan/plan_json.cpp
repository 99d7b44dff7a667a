#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/files/durable.h"
#include "engine/plan/attention_kernels.h"
#include "engine/plan/memory.h"
#include "engine/plan/nccl_settings.h"
#include "engine/plan/plan.h"

namespace ringmaster {

namespace {

using nlohmann::json;

// ------------------------------------------------------------------------------------------------- writing

template <typename T>
json or_null(const std::optional<T>& value) {
    return value ? json(*value) : json(nullptr);
}

json known(int64_t value) {
    return value > 0 ? json(value) : json(nullptr);
}

json to_json(const Mesh& mesh) {
    return {{"dp_replicate", mesh.dp_replicate},
            {"dp_shard", mesh.dp_shard},
            {"ring", mesh.ring},
            {"ulysses", mesh.ulysses},
            {"expert", 1}};  // experts are not spread over ranks
}

json to_json(const Batch& batch) {
    return {{"micro", batch.micro},
            {"accumulation", batch.accumulation},
            {"global", batch.global},
            {"global_without_cp", batch.global_without_cp},
            {"tokens_per_step", or_null(batch.tokens_per_step)},
            {"rows", or_null(batch.rows)},
            {"steps_per_epoch", or_null(batch.steps_per_epoch)},
            {"total_steps", or_null(batch.total_steps)}};
}

json to_json(const RankMemory& memory) {
    return {{"rank", memory.rank},
            {"weights", memory.weights},
            {"gradients", memory.gradients},
            {"optimizer", memory.optimizer},
            {"activations", memory.activations},
            {"workspace", memory.workspace},
            {"logits", memory.logits},
            {"communication", memory.communication},
            {"runtime", memory.runtime},
            {"total", memory.total},
            {"total_low", memory.total_low},
            {"total_high", memory.total_high}};
}

json to_json(const std::optional<Memory>& memory, const std::vector<LargeTensor>& largest) {
    if (!memory) return nullptr;
    json ranks = json::array(), tensors = json::array();
    for (const RankMemory& rank : memory->per_rank) ranks.push_back(to_json(rank));
    for (const auto& [name, bytes, share] : largest)
        tensors.push_back({{"name", name}, {"bytes", bytes}, {"share", share}});
    return {{"device_bytes", known(memory->device_bytes)},
            {"fits", memory->device_bytes > 0 ? json(memory->fits) : json(nullptr)},
            {"host_bytes", memory->host_bytes},
            {"basis", to_string(memory->basis)},
            {"largest_tensors", std::move(tensors)},
            {"per_rank", std::move(ranks)}};
}

json to_json(const std::optional<StepTime>& time) {
    if (!time) return nullptr;
    return {{"step_s", time->step_s},
            {"compute_s", time->compute_s},
            {"comm_s", time->comm_s},
            {"exposed_comm_s", time->exposed_comm_s},
            {"basis", time->measured ? "measured" : "assumed"}};
}

json to_json(const std::vector<KeyVerdicts::Reason>& reasons) {
    json list = json::array();
    for (const auto& [key, why] : reasons) list.push_back({{"key", key}, {"why", why}});
    return list;
}

json to_json(const std::vector<AttentionUse>& uses) {
    json list = json::array();
    for (const AttentionUse& it : uses)
        list.push_back({{"kernel", it.kernel}, {"for", it.use}, {"why", it.why}});
    return list;
}

// ------------------------------------------------------------------------------------------------- reading

/// Reads the members of an object of plan.json; an error names the dotted path.
class Members {
  public:
    Members(const json& values, std::string path) : values_(values), path_(std::move(path)) {
        if (!values.is_object()) refuse("is not an object");
    }

    template <typename T>
    T get(const char* key) const {
        return convert<T>(member(key), key);
    }
    template <typename T>
    std::optional<T> optional(const char* key) const {
        const json& value = member(key);
        return value.is_null() ? std::nullopt : std::optional<T>(convert<T>(value, key));
    }
    /// Returns a size, or 0 if it is null (unknown).
    int64_t known(const char* key) const { return optional<int64_t>(key).value_or(0); }

    bool has(const char* key) const { return values_.contains(key); }

    int positive(const char* key) const {
        const auto value = get<int64_t>(key);
        if (value < 1 || value > (1 << 24)) refuse("is not a positive size", key);
        return static_cast<int>(value);
    }

    Members object(const char* key) const { return {member(key), path_of(key)}; }
    const json& member(const char* key) const {
        const auto found = values_.find(key);
        if (found == values_.end()) refuse("is missing", key);
        return *found;
    }
    const json& list(const char* key) const {
        if (!member(key).is_array()) refuse("is not a list", key);
        return member(key);
    }

    std::string path_of(const char* key) const { return path_.empty() ? key : path_ + "." + key; }
    [[noreturn]] void refuse(const std::string& what, const char* key = nullptr) const {
        const std::string name = key ? path_of(key) : path_;
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), (name.empty() ? "" : "'" + name + "' ") + what,
                    "plan", "make the run directory again with `ringmaster prepare`");
    }

  private:
    template <typename T>
    T convert(const json& value, const char* key) const {
        if constexpr (std::is_same_v<T, bool>) {
            if (!value.is_boolean()) refuse("is not true or false", key);
        } else if constexpr (std::is_integral_v<T>) {
            if (!value.is_number_integer()) refuse("is not a whole number", key);
        } else if constexpr (std::is_floating_point_v<T>) {
            if (!value.is_number()) refuse("is not a number", key);
        } else {
            if (!value.is_string()) refuse("is not text", key);
        }
        return value.get<T>();
    }

    const json& values_;
    std::string path_;
};

template <typename Enum, size_t N>
Enum from_name(const Members& from, const char* key, const std::array<Enum, N>& values) {
    const auto name = from.get<std::string>(key);
    for (const Enum value : values) {
        if (name == to_string(value)) return value;
    }
    from.refuse("is '" + name + "', a stranger", key);
}

constexpr std::array kVerdicts = {Verdict::Fits, Verdict::Tight, Verdict::WillNotFit, Verdict::Invalid,
                                  Verdict::Unknown};
constexpr std::array kDevices = {Device::Cpu, Device::Cuda};
constexpr std::array kBases = {MemoryBasis::Formula, MemoryBasis::Recalibrated, MemoryBasis::Measured};
constexpr std::array kPreflights = {Preflight::Before, Preflight::None, Preflight::Only};
constexpr std::array kLayouts = {RingAttnFunc::BatchRing,   RingAttnFunc::BatchZigzag,
                                 RingAttnFunc::BatchStripe, RingAttnFunc::VarlenLlama3,
                                 RingAttnFunc::VarlenRing,  RingAttnFunc::VarlenZigzag,
                                 RingAttnFunc::Balanced,    RingAttnFunc::Auto};

Mesh read_mesh(const Members& from) {
    if (from.has("expert") && from.positive("expert") != 1)
        from.refuse("is more than can be trained", "expert");
    return {from.positive("dp_replicate"), from.positive("dp_shard"), from.positive("ring"),
            from.positive("ulysses")};
}

ContextParallel read_context_parallel(const Members& from) {
    ContextParallel cp;
    cp.size = from.positive("size");
    for (const json& size : from.list("valid_sizes")) {
        if (!size.is_number_integer()) from.refuse("holds something that is no size", "valid_sizes");
        cp.valid_sizes.push_back(size.get<int>());
    }
    cp.layout = from_name(from, "layout", kLayouts);
    cp.heads_k_stride = from.get<int64_t>("heads_k_stride");
    return cp;
}

Batch read_batch(const Members& from) {
    Batch batch;
    batch.micro = from.positive("micro");
    batch.accumulation = from.positive("accumulation");
    batch.global = from.get<int64_t>("global");
    batch.global_without_cp = from.get<int64_t>("global_without_cp");
    batch.tokens_per_step = from.optional<int64_t>("tokens_per_step");
    batch.rows = from.optional<int64_t>("rows");
    batch.steps_per_epoch = from.optional<int64_t>("steps_per_epoch");
    batch.total_steps = from.optional<int64_t>("total_steps");
    return batch;
}

RankMemory read_rank_memory(const Members& from) {
    RankMemory memory;
    memory.rank = from.get<int>("rank");
    memory.weights = from.get<int64_t>("weights");
    memory.gradients = from.get<int64_t>("gradients");
    memory.optimizer = from.get<int64_t>("optimizer");
    memory.activations = from.get<int64_t>("activations");
    memory.workspace = from.get<int64_t>("workspace");
    memory.logits = from.get<int64_t>("logits");
    memory.communication = from.get<int64_t>("communication");
    memory.runtime = from.get<int64_t>("runtime");
    memory.total = from.get<int64_t>("total");
    memory.total_low = from.get<int64_t>("total_low");
    memory.total_high = from.get<int64_t>("total_high");
    return memory;
}

Memory read_memory(const Members& from) {
    Memory memory;
    memory.device_bytes = from.known("device_bytes");
    memory.fits = from.optional<bool>("fits").value_or(false);
    memory.host_bytes = from.get<int64_t>("host_bytes");
    if (from.has("basis")) memory.basis = from_name(from, "basis", kBases);  // older plans have none
    for (const json& rank : from.list("per_rank")) {
        memory.per_rank.push_back(read_rank_memory({rank, from.path_of("per_rank")}));
    }
    return memory;
}

StepTime read_time(const Members& from) {
    return {from.get<double>("step_s"), from.get<double>("compute_s"), from.get<double>("comm_s"),
            from.get<double>("exposed_comm_s"), from.get<std::string>("basis") == "measured"};
}

KeyVerdicts read_keys(const Members& from) {
    KeyVerdicts keys;
    for (const json& key : from.list("used")) {
        if (!key.is_string()) from.refuse("holds something that is no name", "used");
        keys.used.push_back(key.get<std::string>());
    }
    const auto read = [&from](const char* name, std::vector<KeyVerdicts::Reason>& reasons) {
        for (const json& entry : from.list(name)) {
            const Members reason(entry, from.path_of(name));
            reasons.push_back({reason.get<std::string>("key"), reason.get<std::string>("why")});
        }
    };
    read("no_effect", keys.no_effect);
    read("unsupported", keys.unsupported);
    return keys;
}

PreparedData read_data(const Members& from) {
    return {from.get<std::string>("tokens"), from.get<std::string>("eval_tokens"), from.get<int64_t>("rows"),
            from.get<int64_t>("eval_rows")};
}

}  // namespace

const char* to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::Fits:
            return "fits";
        case Verdict::Tight:
            return "tight";
        case Verdict::WillNotFit:
            return "will_not_fit";
        case Verdict::Invalid:
            return "invalid";
        case Verdict::Unknown:
            break;
    }
    return "unknown";
}

const char* to_string(Preflight preflight) {
    return preflight == Preflight::None ? "none" : preflight == Preflight::Only ? "only" : "before";
}

const char* to_string(Device device) {
    return device == Device::Cuda ? "cuda" : "cpu";
}
const char* to_string(MemoryBasis basis) {
    return basis == MemoryBasis::Measured       ? "measured"
           : basis == MemoryBasis::Recalibrated ? "recalibrated"
                                                : "formula";
}

json plan_to_json(const Plan& plan) {
    json diagnostics = json::array();
    for (const Diagnostic& diagnostic : plan.diagnostics)
        diagnostics.push_back(diagnostic_to_json(diagnostic));
    const ContextParallel& cp = plan.context_parallel;
    return {{"ok", plan.ok()},
            {"verdict", to_string(plan.verdict)},
            {"ranks", plan.ranks},
            {"nodes", plan.nodes},
            {"mesh", to_json(plan.mesh)},
            {"zero_stage", plan.zero_stage},
            {"context_parallel",
             {{"size", cp.size},
              {"valid_sizes", cp.valid_sizes},
              {"layout", to_string(cp.layout)},
              {"heads_k_stride", cp.heads_k_stride}}},
            {"batch", to_json(plan.batch)},
            {"sequence",
             {{"length", known(plan.sequence.length)},
              {"padded_length", known(plan.sequence.padded_length)},
              {"per_rank", known(plan.sequence.per_rank)}}},
            {"memory", to_json(plan.memory, largest_tensors(plan))},
            {"time", to_json(plan.time)},
            {"diagnostics", std::move(diagnostics)},
            {"keys",
             {{"used", plan.keys.used},
              {"no_effect", to_json(plan.keys.no_effect)},
              {"unsupported", to_json(plan.keys.unsupported)}}},
            {"device", to_string(plan.device)},
            {"attention", to_json(attention_kernels(plan))},
            {"nccl", nccl_settings_to_json(planned_nccl_settings(plan))},
            {"config", config_to_json(plan.config)},
            {"model", plan.model ? model_config_to_json(*plan.model) : json(nullptr)},
            {"data",
             {{"tokens", plan.data.tokens},
              {"eval_tokens", plan.data.eval_tokens},
              {"rows", plan.data.rows},
              {"eval_rows", plan.data.eval_rows}}},
            {"preflight", to_string(plan.preflight)}};
}

Plan plan_from_json(const json& values) {
    const Members from(values, "");
    Plan plan;
    plan.verdict = from_name(from, "verdict", kVerdicts);
    plan.ranks = from.positive("ranks");
    plan.nodes = from.positive("nodes");
    plan.mesh = read_mesh(from.object("mesh"));
    plan.zero_stage = from.get<int>("zero_stage");
    plan.context_parallel = read_context_parallel(from.object("context_parallel"));
    plan.batch = read_batch(from.object("batch"));
    const Members sequence = from.object("sequence");
    plan.sequence = {sequence.known("length"), sequence.known("padded_length"), sequence.known("per_rank")};
    if (!from.member("memory").is_null()) plan.memory = read_memory(from.object("memory"));
    if (!from.member("time").is_null()) plan.time = read_time(from.object("time"));
    for (const json& entry : from.list("diagnostics"))
        plan.diagnostics.push_back(diagnostic_from_json(entry));
    plan.keys = read_keys(from.object("keys"));
    plan.device = from_name(from, "device", kDevices);
    plan.config = config_from_json(from.member("config"));
    if (!from.member("model").is_null())
        plan.model = model_config_from_record(from.member("model"), "plan: model");
    plan.data = read_data(from.object("data"));
    plan.preflight = from_name(from, "preflight", kPreflights);
    return plan;
}

Plan read_plan(const std::string& path) {
    std::ifstream file(path);
    if (!file || std::filesystem::is_directory(path)) {
        throw Error(Failure::Usage, Code("FILE-MISSING"), "there is no plan.json that can be read", path,
                    "`ringmaster prepare CONFIG` makes a run directory");
    }
    const json values = json::parse(file, nullptr, false);
    if (values.is_discarded()) throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is not valid JSON", path);
    try {
        return plan_from_json(values);
    } catch (const Error& error) {
        throw Error(error.failure, Code(error.code), error.what(), path, error.hint);
    }
}

void write_plan(const std::string& path, const Plan& plan) {
    const std::string text = plan_to_json(plan).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
    write_file_durably(path, text);
}

}  // namespace ringmaster
