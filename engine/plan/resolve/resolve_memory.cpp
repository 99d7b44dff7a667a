#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "engine/blocks/sites.h"
#include "engine/config/offloading.h"
#include "engine/config/optimizer_arguments.h"
#include "engine/config/sequences_per_row.h"
#include "engine/layout/layout.h"
#include "engine/layout/windows.h"
#include "engine/plan/measured.h"
#include "engine/plan/memory/memory.h"
#include "engine/plan/memory/memory_trace.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/checks.h"
#include "engine/plan/resolve/resolve.h"
#include "engine/plan/resolve/sharding_edit.h"
#include "engine/plan/speeds.h"

namespace ringmaster {

namespace {

int threads_of(const PlanRequest& request, int ranks_of_node) {
    return request.threads > 0 ? request.threads : std::max(1, cores_of(request) / ranks_of_node);
}

MemoryInputs inputs_of(const Plan& plan, int threads) {
    MemoryInputs in;
    in.threads = threads;
    in.model = *plan.model;
    in.precision = plan.config.precision;
    in.device = plan.device;
    in.gradient_checkpointing = plan.config.gradient_checkpointing;
    in.micro = plan.batch.micro * sequences_per_row(plan.config);
    if (plan.config.val_set_size > 0 || !plan.config.test_datasets.empty())
        in.evaluated = plan.config.eval_batch_size * sequences_per_row(plan.config);
    in.shard_tokens =
        static_cast<int64_t>(std::ceil(double(plan.sequence.per_rank) * plan.sharing.most.value_or(1)));
    in.chunks = plan.sequence.chunks;
    in.keeps_first_weights = gets_rows_while_training(plan.config) && has_reference(plan.config);
    in.ring = plan.mesh.ring;
    in.ulysses = plan.mesh.ulysses;
    in.zero_stage = plan.zero_stage;
    in.shards = plan.mesh.shards();
    in.replicas = plan.mesh.dp_replicate;
    in.expert_parts = plan.mesh.expert;
    in.nodes = plan.nodes;
    in.lora = plan.config.lora;
    in.quantization = plan.config.quantization;
    in.packed = plan.config.sample_packing || plan.sharing.on ||
                plan.model->sliding_window.value_or(plan.sequence.length) < plan.sequence.length;
    if (plan.context_parallel.layout == RingAttnFunc::VarlenLlama3 && plan.sequence.chunks == 1)
        in.gathered_heads = std::max<int64_t>(1, plan.context_parallel.heads_k_stride);
    in.layout = plan.context_parallel.layout;
    in.window = widest_window(*plan.model).value_or(0);
    in.keeps_attention = plan.config.selective_checkpointing;
    in.mlp_tile_tokens = mlp_tile_tokens(plan.config, *plan.model, in.micro * plan.sequence.chunk_tokens());
    in.offloads_activations = plan.config.activation_offloading;
    in.offloads_optimizer = plan.config.optimizer_offloading;
    in.states_in_host = states_in_host(plan.config);
    in.weights_in_host = plan.config.parameter_offloading;
    in.optimizer_on_disk = states_on_disk(plan.config);
    in.ranks = plan.ranks;
    if (find_optimizer(plan.config.optimizer)) {
        const OptimizerStates optimizer = optimizer_states(plan.config);
        in.optimizer_states = optimizer.kind;
        in.optimizer_rule = optimizer.rule;
        in.optimizer_momentum = optimizer.momentum;
        in.optimizer_centered = optimizer.centered;
    }
    return in;
}

int64_t device_bytes(const PlanRequest& request, const Plan& plan) {
    if (request.device_memory_bytes) return *request.device_memory_bytes;
    if (plan.device == Device::Cuda) return request.seen_device_bytes;
    return request.machine_ram_bytes / (plan.ranks / plan.nodes);
}

/// Returns whether the plan's devices are on this machine.
bool are_seen(const PlanRequest& request, const Plan& plan) {
    return plan.device == Device::Cpu || plan.ranks <= request.devices_seen;
}

/// Returns the bytes of a rank's host memory for states on their way from and to a disk.
double on_the_way(const RankMemory& rank) {
    constexpr double kStates = 2;
    return std::min(double(rank.disk), kStates * kDiskStretches * kDiskStretch * sizeof(float));
}

/// Returns the bytes of host memory that a node's ranks take: offloaded tensors, and on a CPU everything else
/// too.
int64_t host_bytes(const Plan& plan, const RankMemory& rank) {
    constexpr double kCudaProcess = 2.0 * double(int64_t{1} << 30);
    const double process = plan.device == Device::Cuda ? kCudaProcess : double(rank.total);
    return static_cast<int64_t>(
        std::min((process + double(rank.host) + on_the_way(rank)) * double(plan.ranks / plan.nodes), 9e18));
}

/// Returns the free bytes on a node's disk; 0 if they are unknown because the plan's devices are not on this
/// machine.
int64_t disk_capacity(const PlanRequest& request, const Plan& plan) {
    if (!states_on_disk(plan.config)) return 0;
    if (request.disk_memory_bytes) return *request.disk_memory_bytes;
    if (!are_seen(request, plan)) return 0;
    std::filesystem::path folder = plan.config.optimizer_disk;
    std::error_code problem;
    while (!std::filesystem::exists(folder, problem) && folder.has_relative_path())
        folder = folder.parent_path();
    const std::filesystem::space_info space = std::filesystem::space(folder, problem);
    return problem ? 0 : static_cast<int64_t>(std::min<uintmax_t>(space.available, INT64_MAX));
}

/// Returns a node's memory in bytes; 0 if it is unknown because the plan's devices are not on this machine.
int64_t host_capacity(const PlanRequest& request, const Plan& plan) {
    if (request.host_memory_bytes) return *request.host_memory_bytes;
    return are_seen(request, plan) ? request.machine_ram_bytes : 0;
}

RankMemory fullest(const std::vector<RankMemory>& ranks) {
    return *std::max_element(ranks.begin(), ranks.end(), [](const RankMemory& a, const RankMemory& b) {
        return a.total_high < b.total_high;
    });
}

/// Returns the memory of each ring rank. In long rings every rank gets the largest figures of the first,
/// middle and last rank.
std::vector<RankMemory> memory_of_ring(MemoryInputs in) {
    constexpr int kEach = 8;
    const bool each = in.ring <= kEach;
    std::vector<RankMemory> memory;
    for (int i = 0; i < (each ? in.ring : 3); ++i) {
        in.ring_rank = each ? i : (in.ring - 1) * i / 2;
        memory.push_back(rank_memory(in));
    }
    if (each) return memory;
    return std::vector<RankMemory>(static_cast<size_t>(in.ring), fullest(memory));
}

struct Change {
    std::vector<Edit> edits;
    MemoryInputs in;
};

/// Returns the single changes to try, sorted by the time that they cost, cheapest first.
std::vector<Change> single_changes(const Plan& plan, const MemoryInputs& as_is) {
    std::vector<Change> changes;
    const auto add = [&](std::vector<Edit> edits, auto change) {
        changes.push_back({std::move(edits), as_is});
        change(changes.back().in);
    };
    if (as_is.evaluated > as_is.micro)
        add({{"eval_batch_size", std::to_string(plan.batch.micro)}},
            [](MemoryInputs& in) { in.evaluated = 0; });
    if (plan.batch.micro > 1) {
        const int64_t accumulation = product({plan.batch.accumulation, plan.batch.micro}).value_or(1);
        add({{"micro_batch_size", "1"}, {"gradient_accumulation_steps", std::to_string(accumulation)}},
            [&plan](MemoryInputs& in) { in.micro = sequences_per_row(plan.config); });
    }
    if (as_is.mlp_tile_tokens == 0) {
        Config tiled = plan.config;
        tiled.tiled_mlp = true;
        add({{"tiled_mlp", "true"}}, [&](MemoryInputs& in) {
            in.mlp_tile_tokens = mlp_tile_tokens(tiled, in.model, in.micro * in.shard_tokens);
        });
    }
    if (!as_is.gradient_checkpointing)
        add({{"gradient_checkpointing", "true"}}, [](MemoryInputs& in) { in.gradient_checkpointing = true; });
    if (const auto edit = sharding_edit(plan.config, 3); edit && as_is.zero_stage < 3 && as_is.shards > 1)
        add({*edit}, [&](MemoryInputs& in) {
            in.zero_stage = 3;
            if (offloads_weights(*edit)) in.states_in_host = in.weights_in_host = true;
        });
    const bool mesh_is_free =
        plan.config.dp_shard_size == 0 && plan.config.dp_replicate_size == 0 && plan.config.ulysses_size == 0;
    for (const int size : plan.context_parallel.valid_sizes) {
        if (size <= plan.context_parallel.size || !mesh_is_free) continue;
        add({{"context_parallel_size", std::to_string(size)}}, [&](MemoryInputs& in) {
            in.ring = size;
            in.shard_tokens =
                (padded_length(plan.context_parallel.layout, plan.sequence.length, size, 1) + size - 1) /
                size;
        });
    }
    if (as_is.chunks == 1 && as_is.gradient_checkpointing && obstacle_to_chunks(plan) == nullptr)
        for (int64_t chunks = 2; chunks <= 64; chunks *= 2)
            add({{"sequence_chunks", std::to_string(chunks)}}, [&](MemoryInputs& in) {
                in.chunks = chunks;
                in.mlp_tile_tokens = mlp_tile_tokens(plan.config, in.model,
                                                     in.micro * ((in.shard_tokens + chunks - 1) / chunks));
            });
    return changes;
}

/// Holds the form of MEM-FIT that names the change that makes the plan fit, or says why no change that was
/// tried does.
struct Advice {
    const char* form;
    FindingValues parameters;
    std::vector<Fix> fixes;
};

std::string shown(const std::vector<Edit>& edits) {
    std::string text;
    for (const Edit& edit : edits) text += (text.empty() ? "" : " with ") + edit.key + ": " + edit.value;
    return text;
}

std::optional<Advice> fitting(const Plan& plan, const MemoryInputs& from, int64_t device,
                              const std::vector<Edit>& base_edits) {
    for (Change& change : single_changes(plan, from)) {
        const RankMemory memory = fullest(memory_of_ring(change.in));
        if (memory.total_high > device) continue;
        change.edits.insert(change.edits.end(), base_edits.begin(), base_edits.end());
        return Advice{
            "change", {{"change", shown(change.edits)}, {"changed_bytes", memory.total}}, {{change.edits}}};
    }
    return std::nullopt;
}

/// Returns the first single change that makes the plan fit, or else the first that does so together with
/// checkpointing and tiled MLPs. The advice includes the memory that a rank then takes.
Advice what_would_fit(const Plan& plan, const MemoryInputs& as_is, int64_t device) {
    if (auto found = fitting(plan, as_is, device, {})) return *found;
    std::vector<Edit> base_edits;
    MemoryInputs smaller = as_is;
    if (!as_is.gradient_checkpointing) base_edits.push_back({"gradient_checkpointing", "true"});
    smaller.gradient_checkpointing = true;
    if (auto found = fitting(plan, smaller, device, base_edits)) return *found;
    Config tiled = plan.config;
    tiled.tiled_mlp = true;
    smaller.mlp_tile_tokens = mlp_tile_tokens(tiled, as_is.model, as_is.micro * as_is.shard_tokens);
    if (as_is.mlp_tile_tokens == 0) base_edits.push_back({"tiled_mlp", "true"});
    if (auto found = fitting(plan, smaller, device, base_edits)) return *found;
    const double states = weight_bytes(as_is) + gradient_bytes(as_is) + optimizer_bytes(as_is);
    if (states <= double(device)) return {"shorter", {}, {}};
    smaller.precision = Precision::Bf16Full;
    base_edits.push_back({"bf16", "full"});
    const RankMemory halved = fullest(memory_of_ring(smaller));
    if (halved.total_high <= device)
        return {"change", {{"change", shown(base_edits)}, {"changed_bytes", halved.total}}, {{base_edits}}};
    if (!as_is.lora.on()) {
        smaller.precision = as_is.precision;
        smaller.lora.r = 16;
        smaller.lora.alpha = 32;
        smaller.lora.targets = module_names();
        base_edits.back() = {"adapter", "lora"};
        base_edits.insert(base_edits.end(),
                          {{"lora_r", "16"}, {"lora_alpha", "32"}, {"lora_target_linear", "true"}});
        const RankMemory adapter = fullest(memory_of_ring(smaller));
        if (adapter.total_high <= device)
            return {
                "change", {{"change", shown(base_edits)}, {"changed_bytes", adapter.total}}, {{base_edits}}};
    }
    return {as_is.lora.on() ? "states" : "adapter", {{"states_bytes", states}}, {}};
}

void say_fit(const Plan& plan, const MemoryInputs& in, const RankMemory& worst, Findings& findings) {
    if (plan.verdict != Verdict::WillNotFit && plan.verdict != Verdict::Tight) return;
    Advice advice = what_would_fit(plan, in, plan.memory->device_bytes);
    advice.parameters.insert({{"needed_bytes", worst.total},
                              {"low_bytes", worst.total_low},
                              {"high_bytes", worst.total_high},
                              {"device_bytes", plan.memory->device_bytes}});
    findings.warn(Form("MEM-FIT", advice.form), "", std::move(advice.parameters), std::move(advice.fixes));
}

/// Returns whether a node's ranks offload more than its memory holds. Without offloading, only device memory
/// counts.
bool exceeds_host(const Plan& plan, const Memory& memory) {
    const bool offloads = plan.config.activation_offloading || plan.config.optimizer_offloading;
    return offloads && memory.host_capacity_bytes > 0 && memory.host_bytes > memory.host_capacity_bytes;
}

bool exceeds_disk(const Memory& memory) {
    return memory.disk_capacity_bytes > 0 && memory.disk_bytes > memory.disk_capacity_bytes;
}

void say_disk(const Memory& memory, Findings& findings) {
    findings.warn(Form("MEM-FIT", "disk"), "",
                  {{"disk_bytes", memory.disk_bytes}, {"capacity_bytes", memory.disk_capacity_bytes}});
}

void say_host(const Memory& memory, Findings& findings) {
    findings.warn(Form("MEM-FIT", "host"), "",
                  {{"host_bytes", memory.host_bytes}, {"capacity_bytes", memory.host_capacity_bytes}});
}

/// Uses the measured peak if exactly this plan was run, and otherwise scales by a measured run of a similar
/// plan.
void recalibrate(const PlanRequest& request, const Plan& plan, MemoryInputs& in, Findings& findings) {
    const std::optional<Recalibration> known = recalibration_of(request, plan);
    if (!known) return;
    const Measurement& from = *known->from;
    in.measured_ratio = known->memory_ratio();
    in.basis = known->is_same_run ? MemoryBasis::Measured : MemoryBasis::Recalibrated;
    char error[32];
    std::snprintf(error, sizeof error, "%+.1f %%", 100 * (from.predicted_bytes / from.peak_bytes - 1));
    findings.inform(Form("MEM-MEASURED", known->is_same_run ? "same" : "corrected"), "",
                    {{"length", from.length},
                     {"ranks", from.ranks},
                     {"date", date_text(from.measured_at)},
                     {"peak_bytes", double(from.peak_bytes)},
                     {"error", error}});
}

/// Returns whether every rank of the plan fits, by the highest estimate, if its sequences are computed in
/// `chunks` chunks.
bool fits_in_chunks(const PlanRequest& request, Plan plan, int64_t chunks) {
    plan.sequence.chunks = chunks;
    const RankMemory worst =
        fullest(memory_of_ring(inputs_of(plan, threads_of(request, plan.ranks / plan.nodes))));
    Memory memory;
    memory.host_bytes = host_bytes(plan, worst);
    memory.host_capacity_bytes = host_capacity(request, plan);
    return worst.total_high <= device_bytes(request, plan) && !exceeds_host(plan, memory);
}

/// Returns the fewest chunks with which the plan fits; 1 if no number of chunks makes it fit.
int64_t fewest_chunks(const PlanRequest& request, const Plan& plan) {
    constexpr int64_t kLeastTokens = 256, kMost = 1024;
    const int64_t most = std::min(kMost, plan.sequence.per_rank / kLeastTokens);
    const auto fits = [&](int64_t chunks) { return fits_in_chunks(request, plan, chunks); };
    int64_t few = 1, many = 1;
    for (; !fits(many); few = many, many = std::min(2 * many, most))
        if (many >= most) return 1;
    while (many - few > 1) {
        const int64_t middle = (few + many) / 2;
        (fits(middle) ? many : few) = middle;
    }
    return many;
}

void choose_chunks(const PlanRequest& request, Plan& plan, Findings& findings) {
    if (plan.config.sequence_chunks != 0 || device_bytes(request, plan) <= 0) return;
    if (obstacle_to_chunks(plan) != nullptr) return;
    plan.sequence.chunks = fewest_chunks(request, plan);
    if (plan.sequence.chunks == 1) return;
    findings.inform(Form("SEQ-CHUNKS", "chosen"), "sequence_chunks",
                    {{"chunks", plan.sequence.chunks}, {"tokens", plan.sequence.chunk_tokens()}});
}

}  // namespace

std::vector<LargeTensor> largest_tensors(const Plan& plan) {
    constexpr double kLeastShare = 0.05;
    if (!plan.memory || !plan.model) return {};
    MemoryInputs in = inputs_of(plan, std::max(1, cores_of({}) / (plan.ranks / plan.nodes)));
    std::optional<Heap> most;
    for (const int rank : {0, (in.ring - 1) / 2, in.ring - 1}) {
        in.ring_rank = rank;
        Heap heap = trace_step(in);
        if (!most || heap.peak() > most->peak()) most = std::move(heap);
    }
    std::vector<LargeTensor> largest;
    for (const auto& [name, bytes] : most->named_at_peak()) {
        const double share = bytes / most->peak();
        if (share > kLeastShare) largest.push_back({std::string(name), std::llround(bytes), share});
    }
    std::sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    return largest;
}

void resolve_memory(const PlanRequest& request, Plan& plan, Findings& findings) {
    if (!plan.model || plan.sequence.per_rank == 0) return;
    const int of_node = plan.ranks / plan.nodes;
    choose_chunks(request, plan, findings);
    MemoryInputs in = inputs_of(plan, threads_of(request, of_node));
    recalibrate(request, plan, in, findings);
    if (const Calibration* known = speeds_of(request, plan).calibration) in.link = known->link;
    const std::vector<RankMemory> of_ring = memory_of_ring(in);
    const RankMemory worst = fullest(of_ring);
    Memory memory;
    memory.basis = in.basis;
    memory.device_bytes = std::max<int64_t>(0, device_bytes(request, plan));
    memory.host_bytes = host_bytes(plan, worst);
    memory.host_capacity_bytes = host_capacity(request, plan);
    memory.disk_bytes = worst.disk * of_node;
    memory.disk_capacity_bytes = disk_capacity(request, plan);
    const bool host_fits = !exceeds_host(plan, memory), disk_fits = !exceeds_disk(memory);
    memory.fits =
        host_fits && disk_fits && memory.device_bytes > 0 && worst.total_high <= memory.device_bytes;
    // Each rank holds either whole states or equal slices, and all layouts give equal shards. Only the
    // received keys differ.
    for (int rank = 0; rank < plan.ranks; ++rank) {
        memory.per_rank.push_back(of_ring[static_cast<size_t>(plan.mesh.coordinates(rank).ring)]);
        memory.per_rank.back().rank = rank;
    }
    plan.memory = std::move(memory);
    if (plan.memory->device_bytes == 0) {
        findings.inform(Form("MEM-DEVICE"), "", {});
        return;
    }
    const bool too_large = !host_fits || !disk_fits || worst.total_low > plan.memory->device_bytes;
    plan.verdict = plan.memory->fits ? Verdict::Fits : too_large ? Verdict::WillNotFit : Verdict::Tight;
    if (!host_fits) say_host(*plan.memory, findings);
    if (!disk_fits) say_disk(*plan.memory, findings);
    if (!request.known_model && worst.total_high > plan.memory->device_bytes)
        say_fit(plan, in, worst, findings);  // skipped for the adviser, which searches by itself
}

}  // namespace ringmaster
