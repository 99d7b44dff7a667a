#include "engine/plan/resolve/plan_json.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/files/durable.h"
#include "engine/json_fields.h"
#include "engine/plan/attention_kernels.h"
#include "engine/plan/expert_parallel.h"
#include "engine/plan/memory/memory.h"
#include "engine/plan/nccl_settings.h"

namespace ringmaster {

template <class Visit>
void each_field(const Visit& visit, Same<Batch> auto& batch) {
    visit("micro", batch.micro);
    visit("accumulation", batch.accumulation);
    visit("global", batch.global);
    visit("global_without_cp", batch.global_without_cp);
    visit("tokens_per_step", batch.tokens_per_step);
    visit("rows", batch.rows);
    visit("steps_per_epoch", batch.steps_per_epoch);
    visit("total_steps", batch.total_steps);
}

template <class Visit>
void each_field(const Visit& visit, Same<PromptSharing> auto& sharing) {
    visit("on", sharing.on);
    visit("tokens", sharing.tokens);
    visit("cells", sharing.cells);
    visit("most", sharing.most);
}

template <class Visit>
void each_field(const Visit& visit, Same<RankMemory> auto& memory) {
    visit("rank", memory.rank);
    visit("weights", memory.weights);
    visit("gradients", memory.gradients);
    visit("optimizer", memory.optimizer);
    visit("activations", memory.activations);
    visit("workspace", memory.workspace);
    visit("logits", memory.logits);
    visit("communication", memory.communication);
    visit("runtime", memory.runtime);
    visit("total", memory.total);
    visit("total_low", memory.total_low);
    visit("total_high", memory.total_high);
}

template <class Visit>
void each_field(const Visit& visit, Same<PreparedData> auto& data) {
    visit("tokens", data.tokens);
    visit("eval_tokens", data.eval_tokens);
    visit("rows", data.rows);
    visit("eval_rows", data.eval_rows);
}

namespace {

using nlohmann::json;

// ------------------------------------------------------------------------------------------------- writing

json known(int64_t value) {
    return value > 0 ? json(value) : json(nullptr);
}

json to_json(const Mesh& mesh) {
    return {{"dp_replicate", mesh.dp_replicate},
            {"dp_shard", mesh.dp_shard},
            {"ring", mesh.ring},
            {"ulysses", mesh.ulysses},
            {"expert", mesh.expert}};
}

json to_json(const std::optional<ReceivedTokens>& received) {
    if (!received) return nullptr;
    return {{"level", received->level}, {"worst", received->worst}};
}

json to_json(const std::optional<Memory>& memory, const std::vector<LargeTensor>& largest) {
    if (!memory) return nullptr;
    json ranks = json::array(), tensors = json::array();
    for (const RankMemory& rank : memory->per_rank) {
        ranks.push_back(fields_to_json(rank));
        ranks.back()["host"] = rank.host;
        ranks.back()["disk"] = rank.disk;
    }
    for (const auto& [name, bytes, share] : largest)
        tensors.push_back({{"name", name}, {"bytes", bytes}, {"share", share}});
    return {{"device_bytes", known(memory->device_bytes)},
            {"fits", memory->device_bytes > 0 ? json(memory->fits) : json(nullptr)},
            {"host_bytes", memory->host_bytes},
            {"host_capacity_bytes", known(memory->host_capacity_bytes)},
            {"disk_bytes", memory->disk_bytes},
            {"disk_capacity_bytes", known(memory->disk_capacity_bytes)},
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
        list.push_back({{"kernel", it.kernel}, {"for", it.use}, {"why", it.whole_why()}});
    return list;
}

// ------------------------------------------------------------------------------------------------- reading

constexpr const char* kWhole = "plan";  ///< place of an error whose message names the field
constexpr const char* kPrepareAgain = "make the run directory again with `ringmaster prepare`";

/// Reads the members of an object of plan.json. Errors name the dotted path.
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
                    kWhole, kPrepareAgain);
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
constexpr std::array kWrittenLayouts = {RingAttnFunc::BatchRing,   RingAttnFunc::BatchZigzag,
                                        RingAttnFunc::BatchStripe, RingAttnFunc::VarlenLlama3,
                                        RingAttnFunc::VarlenRing,  RingAttnFunc::VarlenZigzag,
                                        RingAttnFunc::Balanced,    RingAttnFunc::Auto};

Mesh read_mesh(const Members& from) {
    Mesh mesh{from.positive("dp_replicate"), from.positive("dp_shard"), from.positive("ring"),
              from.positive("ulysses")};
    if (from.has("expert")) mesh.expert = from.positive("expert");
    return mesh;
}

ContextParallel read_context_parallel(const Members& from) {
    ContextParallel cp;
    cp.size = from.positive("size");
    for (const json& size : from.list("valid_sizes")) {
        if (!size.is_number_integer()) from.refuse("holds something that is no size", "valid_sizes");
        cp.valid_sizes.push_back(size.get<int>());
    }
    cp.layout = from_name(from, "layout", kWrittenLayouts);
    cp.heads_k_stride = from.get<int64_t>("heads_k_stride");
    return cp;
}

/// Reads the fields of a struct; the type of each member says what the JSON must hold.
struct FieldsOf {
    const Members& from;

    template <class T>
    void operator()(const char* name, T& value) const {
        value = from.get<T>(name);
    }
    template <class T>
    void operator()(const char* name, std::optional<T>& value) const {
        value = from.optional<T>(name);
    }
};

template <class T>
T read_fields(const Members& from) {
    T value;
    each_field(FieldsOf{from}, value);
    return value;
}

Batch read_batch(const Members& from) {
    from.positive("micro"), from.positive("accumulation");
    return read_fields<Batch>(from);
}

Memory read_memory(const Members& from) {
    Memory memory;
    memory.device_bytes = from.known("device_bytes");
    memory.fits = from.optional<bool>("fits").value_or(false);
    memory.host_bytes = from.get<int64_t>("host_bytes");
    // Older plans lack the capacities of host and disk, and a rank's share of them.
    if (from.has("disk_bytes")) memory.disk_bytes = from.get<int64_t>("disk_bytes");
    if (from.has("disk_capacity_bytes")) memory.disk_capacity_bytes = from.known("disk_capacity_bytes");
    if (from.has("host_capacity_bytes")) memory.host_capacity_bytes = from.known("host_capacity_bytes");
    if (from.has("basis")) memory.basis = from_name(from, "basis", kBases);  // older plans have no basis
    for (const json& rank : from.list("per_rank")) {
        const Members of_rank(rank, from.path_of("per_rank"));
        memory.per_rank.push_back(read_fields<RankMemory>(of_rank));
        if (of_rank.has("host")) memory.per_rank.back().host = of_rank.get<int64_t>("host");
        if (of_rank.has("disk")) memory.per_rank.back().disk = of_rank.get<int64_t>("disk");
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

}  // namespace

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
            {"received_tokens", to_json(received_tokens(plan))},
            {"zero_stage", plan.zero_stage},
            {"context_parallel",
             {{"size", cp.size},
              {"valid_sizes", cp.valid_sizes},
              {"layout", to_string(cp.layout)},
              {"heads_k_stride", cp.heads_k_stride}}},
            {"batch", fields_to_json(plan.batch)},
            {"sequence",
             {{"length", known(plan.sequence.length)},
              {"padded_length", known(plan.sequence.padded_length)},
              {"per_rank", known(plan.sequence.per_rank)},
              {"chunks", plan.sequence.chunks}}},
            {"shared_prompts", fields_to_json(plan.sharing)},
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
            {"data", fields_to_json(plan.data)},
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
    if (sequence.has("chunks")) plan.sequence.chunks = sequence.positive("chunks");
    if (from.has("shared_prompts")) plan.sharing = read_fields<PromptSharing>(from.object("shared_prompts"));
    if (!from.member("memory").is_null()) plan.memory = read_memory(from.object("memory"));
    if (!from.member("time").is_null()) plan.time = read_time(from.object("time"));
    for (const json& entry : from.list("diagnostics"))
        plan.diagnostics.push_back(diagnostic_from_json(entry));
    plan.keys = read_keys(from.object("keys"));
    plan.device = from_name(from, "device", kDevices);
    plan.config = config_from_json(from.member("config"));
    if (!from.member("model").is_null())
        plan.model = model_config_from_record(from.member("model"), "plan: model");
    plan.data = read_fields<PreparedData>(from.object("data"));
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
        const std::string field = error.where == kWhole ? "" : error.where + ": ";
        throw Error(error.failure, Code(error.code), field + error.what(), path, kPrepareAgain);
    }
}

void write_plan(const std::string& path, const Plan& plan) {
    const std::string text = plan_to_json(plan).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
    write_file_durably(path, text);
}

}  // namespace ringmaster
