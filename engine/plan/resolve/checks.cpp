#include "engine/plan/resolve/checks.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "engine/config/lora_targets.h"
#include "engine/config/noise.h"
#include "engine/config/offloading.h"
#include "engine/config/optimizers.h"
#include "engine/config/policy.h"
#include "engine/config/precision.h"
#include "engine/plan/unfrozen.h"

namespace ringmaster {

namespace {

bool splits(const Plan& plan) {
    return plan.context_parallel.size > 1;
}

// ---------------------------------------------------------------------------------- limits of this engine

/// Reports a layout that leaves gaps between a rank's tokens, for a model that passes a state from token to
/// token.
void limit_stretches(Plan& plan, Findings& findings) {
    const bool has_gaps = plan.context_parallel.layout == RingAttnFunc::BatchStripe && plan.mesh.ring > 1;
    if (!plan.model || !plan.model->has_recurrent_layers() || !has_gaps) return;
    findings.error(Form("CP-STRETCHES"), "ring_attn_func", {});
}

/// Reports 8-bit weights of a model with Mamba-1, whose matrices axolotl then leaves unquantised.
void limit_int8(Plan& plan, Findings& findings) {
    const bool is_int8 = plan.config.quantization.format == WeightFormat::Int8;
    if (is_int8 && plan.model && plan.model->delta.scans())
        findings.error(Form("KEY-UNSUPPORTED", "scan-int8"), "load_in_8bit", {});
}

void limit_models(Plan& plan, Findings& findings) {
    limit_int8(plan, findings);
    if (!plan.model || plan.model->trainable()) return;
    std::string obstacles;
    for (const std::string& obstacle : plan.model->obstacles)
        obstacles += (obstacles.empty() ? "" : ", ") + obstacle;
    findings.error(Form("ENGINE-MODEL", "config"), "base_model",
                   {{"type", plan.model->model_type}, {"obstacles", obstacles}});
}

void limit_chunks(Plan& plan, Findings& findings) {
    if (plan.config.sequence_chunks < 2) return;
    if (const char* obstacle = obstacle_to_chunks(plan))
        findings.error(Form("SEQ-CHUNKS", obstacle), "sequence_chunks", {});
}

using Limit = void (*)(Plan&, Findings&);
constexpr Limit kLimits[] = {limit_stretches, limit_models, limit_chunks};

// ------------------------------------------------------------------------------------- rules about heads

std::vector<int> usable_ulysses(const ModelConfig& model, int context) {
    std::vector<int> usable = divisors(context);
    std::erase_if(usable, [&](int size) { return size > model.num_heads; });
    return usable;
}

/// Returns the different numbers of key heads among the model's kinds of attention.
std::set<int64_t> key_heads(const ModelConfig& model) {
    std::set<int64_t> numbers;
    for (const LayerKind& kind : model.layer_kinds()) numbers.insert(model.of_kind(kind).num_kv_heads);
    return numbers;
}

/// Reports head counts that DeepSpeed rejects: "Attention head count … is not divisible by SP size", and the
/// same for key/value heads. This engine distributes heads as evenly as possible.
void rule_ulysses_heads(const Plan& plan, Findings& findings) {
    if (!plan.model || plan.mesh.ulysses == 1) return;
    const int size = plan.mesh.ulysses;
    const int64_t heads = plan.model->num_heads;
    const std::set<int64_t> all = key_heads(*plan.model);
    const auto uneven = std::find_if(all.begin(), all.end(), [&](int64_t kv_heads) {
        return heads % size != 0 || (kv_heads % size != 0 && size % kv_heads != 0);
    });
    if (uneven == all.end()) return;
    const FindingValues said{{"heads", heads}, {"kv_heads", *uneven}, {"ulysses", size}};
    if (heads >= size) return findings.warn(Form("CP-HEADS", "uneven"), "ulysses_size", said);
    const std::vector<int> usable = usable_ulysses(*plan.model, plan.context_parallel.size);
    FindingValues with_sizes = said;
    with_sizes["sizes"] = as_list(usable);
    findings.error(Form("CP-HEADS", "few"), "ulysses_size", std::move(with_sizes),
                   fixes_of_sizes("ulysses_size", usable, size));
}

/// Reports a stride that does not divide the heads. axolotl only documents the rule, and ring-flash-attention
/// fails at run time. This engine takes the remaining heads as a smaller last group.
void rule_heads_stride(const Plan& plan, Findings& findings) {
    const int64_t stride = plan.context_parallel.heads_k_stride;
    if (!splits(plan) || plan.context_parallel.layout != RingAttnFunc::VarlenLlama3) {
        if (stride > 1) findings.inform(Form("CP-HEADS-STRIDE", "idle"), "heads_k_stride", {});
        return;
    }
    if (!plan.model) return;
    const std::set<int64_t> all = key_heads(*plan.model);
    const int64_t common = std::accumulate(all.begin(), all.end(), int64_t{0}, std::gcd<int64_t, int64_t>);
    if (common % stride == 0) return;
    const auto undivided =
        std::find_if(all.begin(), all.end(), [&](int64_t kv_heads) { return kv_heads % stride != 0; });
    const std::vector<int> usable = divisors(common);
    findings.warn(Form("CP-HEADS-STRIDE", "divisor"), "heads_k_stride",
                  {{"stride", stride}, {"kv_heads", *undivided}, {"sizes", as_list(usable)}},
                  fixes_of_sizes("heads_k_stride", usable, stride));
}

// ----------------------------------------------------------------------------------- rules of other engines

/// Reports replicas without shards. The number of shards is known only with the ranks; if the file sets
/// dp_shard_size, the config reader reports it.
void rule_replicas(const Plan& plan, Findings& findings) {
    const Config& config = plan.config;
    const bool bare = plan.mesh.ring > 1 && plan.mesh.dp_replicate > 1 && plan.mesh.dp_shard == 1;
    if (!bare || config.dp_shard_size == 1) return;
    findings.warn(Form("MESH-REPLICAS"), "dp_replicate_size", {{"replicas", plan.mesh.dp_replicate}});
}

void rule_ulysses_stage(const Plan& plan, Findings& findings) {
    if (plan.mesh.ulysses == 1 || plan.zero_stage > 0) return;
    findings.warn(Form("CP-ULYSSES-STAGE"), "ulysses_size", {});
}

void rule_batch_ring_packed(const Plan& plan, Findings& findings) {
    if (!splits(plan) || !plan.config.sample_packing ||
        plan.context_parallel.layout != RingAttnFunc::BatchRing)
        return;
    findings.warn(Form("CP-BATCH-RING"), "ring_attn_func", {});
}

void rule_packing_elsewhere(const Plan& plan, Findings& findings) {
    if (!splits(plan) || !plan.config.sample_packing || plan.mesh.ulysses > 1) return;
    findings.inform(Form("CP-PACKING"), "sample_packing", {});
}

bool is_paged(const Plan& plan) {
    const OptimizerKind* kind = find_optimizer(plan.config.optimizer);
    return kind && kind->paged;
}

/// Warns if states stay in host memory although the file asks for a disk. Notes that offloading on a CPU
/// copies within the same memory.
void rule_offload(const Plan& plan, Findings& findings) {
    if (!plan.config.optimizer_disk.empty() && !states_on_disk(plan.config))
        findings.warn(Form("CFG-OFFLOAD", "nvme-states"), "deepspeed",
                      {{"optimizer", plan.config.optimizer}});
    if (plan.device != Device::Cpu) return;
    if (plan.config.activation_offloading) {
        findings.inform(Form("CFG-OFFLOAD", "cpu-activations"),
                        findings.key_of({"activation_offloading", "gradient_checkpointing"}), {});
    }
    if (plan.config.optimizer_offloading && !states_on_disk(plan.config)) {
        findings.inform(Form("CFG-OFFLOAD", "cpu-states"),
                        is_paged(plan) ? "optimizer" : findings.key_of({"fsdp_config", "deepspeed"}), {});
    }
}

/// Reports row ranges that parameters do not have, and patterns that train nothing.
void rule_unfrozen(const Plan& plan, Findings& findings) {
    const std::vector<std::string>& patterns = plan.config.unfrozen_parameters;
    if (patterns.empty() || !plan.model) return;
    bool trains = false;
    for (const ParameterShape& shape : parameter_shapes(*plan.model)) {
        const Unfrozen found = unfrozen_of(shape, patterns);
        trains = trains || found.trained;
        if (!found.problem.empty())
            return findings.error(Form("CFG-VALUE", "unfrozen-rows"), "unfrozen_parameters",
                                  {{"problem", found.problem}});
    }
    if (!trains) findings.error(Form("CFG-VALUE", "unfrozen-none"), "unfrozen_parameters", {});
}

/// Rejects mixtures of experts for optimizers whose update depends on whole matrices.
void rule_matrices(const Plan& plan, Findings& findings) {
    const OptimizerKind* kind = find_optimizer(plan.config.optimizer);
    if (!kind || !kind->needs_matrices() || !plan.model || plan.config.lora.on()) return;
    if (plan.model->num_experts > 0)
        return findings.error(Form("CFG-OPTIMIZER", "experts"), "optimizer",
                              {{"optimizer", plan.config.optimizer}});
}

/// Rejects noise on embeddings that the model scales, because some models scale before the noise and others
/// after it. Also rejects noise in mixtures of experts, whose router's loss may come from a separate forward
/// pass.
void rule_noise(const Plan& plan, Findings& findings) {
    if (noise_rule(plan.config).alpha == 0 || !plan.model) return;
    if (plan.model->embedding_multiplier == 1 && plan.model->num_experts == 0) return;
    findings.error(Form("KEY-UNSUPPORTED", plan.model->num_experts > 0 ? "noise-experts" : "noise-scaled"),
                   findings.key_of({"neftune_noise_alpha", "noisy_embedding_alpha"}),
                   {{"type", plan.model->model_type}});
}

/// Rejects settings that the losses of preferences do not support, and KTO with a single row per step.
void rule_preference(const Plan& plan, Findings& findings) {
    const Preference& preference = plan.config.preference;
    if (!weighs_documents(plan.config)) return;
    if (noise_rule(plan.config).alpha != 0) {
        const std::string key = findings.key_of({"neftune_noise_alpha", "noisy_embedding_alpha"});
        findings.error(Form("PREFERENCE-LIMIT", "noise"), key, {{"key", key}});
    }
    if (plan.model && plan.model->adds_router_loss)
        findings.error(Form("PREFERENCE-LIMIT", "router"), "output_router_logits", {});
    const std::optional<PolicyRule>& policy = plan.config.policy;
    if (policy && policy->temperature != 1 && plan.model && plan.model->logit_softcap != 0)
        findings.error(Form("PREFERENCE-LIMIT", "temperature"), "trl.temperature", {});
    if (preference.method == PreferenceMethod::Kto && plan.batch.global < 2 && !plan.config.sample_packing)
        findings.error(Form("PREFERENCE-LIMIT", "kto-batch"), "micro_batch_size", {});
}

/// Returns the smallest accumulation with which a step has whole groups.
int64_t whole_accumulation(const Plan& plan) {
    const int64_t generations = plan.config.sampling->generations;
    const int64_t rows = plan.batch.global / plan.batch.accumulation;
    return generations / std::gcd(rows, generations);
}

/// Returns the bytes that the keys and values of `rows` completions take on a rank
/// (engine/model/key_value_cache.h).
double cache_bytes(const Plan& plan, int64_t rows) {
    const auto places = std::min(plan.config.sequence_len, plan.model->max_position_embeddings);
    double numbers = 0;
    for (int64_t layer = 0; layer < plan.model->num_layers; ++layer) {
        const ModelConfig own = plan.model->of_layer(layer);
        numbers += 2.0 * double(own.num_kv_heads) * double(own.head_dim);
    }
    const double element = plan.config.precision == Precision::Float32 ? 4 : 2;
    return numbers * double(rows) * double(places) * element;
}

/// Reports how a server gets the weights, and whether the loss uses its log-probabilities. Rejects a base
/// that no file holds, because an adapter is merged into the base's files.
void rule_server(const Plan& plan, const RolloutServer& server, Findings& findings) {
    const Config& config = plan.config;
    if (config.reinit_weights && config.lora.on())
        return findings.error(Form("CFG-SAMPLING", "server-base"), "reinit_weights", {});
    const char* form = server.corrects ? "server-corrected" : "server";
    findings.inform(Form("CFG-SAMPLING", form), "trl.use_vllm",
                    {{"address", server.address()}, {"ratio", to_string(server.ratio)}, {"cap", server.cap}});
}

/// Reports which rows a step trains on if they come from a folder, and how long it waits for them.
void rule_rollout_folder(const Plan& plan, Findings& findings) {
    if (!plan.config.policy || !plan.config.policy->folder) return;
    const RolloutFolder& folder = *plan.config.policy->folder;
    findings.inform(Form("ROLLOUT-FOLDER", "comes"), "trl.rollout_folder",
                    {{"rows", plan.batch.global}, {"folder", folder.path}, {"timeout", folder.timeout}});
}

/// Rejects steps that do not hold whole groups, and models that the sampler does not know; reports the memory
/// that sampling takes.
void rule_sampling(const Plan& plan, Findings& findings) {
    if (!plan.config.sampling) return;
    const int64_t generations = plan.config.sampling->generations;
    if (plan.batch.global % generations != 0) {
        findings.error(Form("CFG-SAMPLING", "groups"), "trl.num_generations",
                       {{"global", plan.batch.global},
                        {"generations", generations},
                        {"accumulation", whole_accumulation(plan)}});
    }
    if (const auto& server = plan.config.sampling->server) return rule_server(plan, *server, findings);
    if (!plan.model) return;
    if (plan.model->has_recurrent_layers())
        return findings.error(Form("CFG-SAMPLING", "recurs"), "base_model", {});
    const int64_t most = (plan.batch.global + plan.ranks - 1) / std::max(1, plan.ranks);
    const int64_t rows = std::min<int64_t>(most, 32);  // Generation::at_once
    findings.inform(Form("CFG-SAMPLING", "cache"), "trl",
                    {{"rows", rows}, {"size", size_text(cache_bytes(plan, rows))}});
}

/// Notes that axolotl has two kinds of Muon, and uses a different kind on several ranks than on one.
void rule_muon(const Plan& plan, Findings& findings) {
    const OptimizerKind* kind = find_optimizer(plan.config.optimizer);
    if (!kind || kind->rule != UpdateRule::Muon) return;
    findings.inform(Form("CFG-OPTIMIZER", "muon"), "optimizer", {});
}

/// Rejects DoRA on 8-bit weights, because a product with quantised inputs differs from a product with the
/// matrix. Rejects it with an embedding or head trained in full in 16 bits, because DoRA's weights are
/// float32.
void rule_dora(const Plan& plan, Findings& findings) {
    const Config& config = plan.config;
    if (!config.lora.dora) return;
    const std::string key = findings.key_of({"peft_use_dora", "lora_model_dir"});
    if (config.quantization.format == WeightFormat::Int8)
        findings.error(Form("KEY-UNSUPPORTED", "dora-int8"), key, {});
    if (is_mixed(config.precision) && !targets_of(config.lora).saved_modules().empty())
        findings.error(Form("KEY-UNSUPPORTED", "dora-saved"), key, {});
}

using Rule = void (*)(const Plan&, Findings&);
constexpr Rule kRules[] = {rule_ulysses_heads,
                           rule_heads_stride,
                           rule_replicas,
                           rule_ulysses_stage,
                           rule_batch_ring_packed,
                           rule_packing_elsewhere,
                           rule_offload,
                           rule_unfrozen,
                           rule_matrices,
                           rule_noise,
                           rule_muon,
                           rule_dora,
                           rule_preference,
                           rule_sampling,
                           rule_rollout_folder};

/// Returns whether layers share more than hidden states: keys and values, or an input of every layer.
bool shares_between_layers(const ModelConfig& model) {
    return model.layer_input_width > 0 ||
           std::any_of(model.layers.begin(), model.layers.end(),
                       [](const LayerKind& kind) { return kind.keys_of >= 0; });
}

}  // namespace

const char* obstacle_to_chunks(const Plan& plan) {
    const Config& config = plan.config;
    if (plan.model && plan.model->has_recurrent_layers()) return "recurs";
    const bool is_dealt_unequally =
        plan.context_parallel.layout == RingAttnFunc::Balanced || config.ring_attn_func == RingAttnFunc::Auto;
    if (plan.context_parallel.size > 1 && is_dealt_unequally) return "layout";
    if (plan.model && shares_between_layers(*plan.model)) return "layers";
    if (config.preference.on() || config.policy) return "weights";
    if (config.expert_parallel_size > 1) return "experts";
    if (plan.device == Device::Cuda && config.quantization.format == WeightFormat::Int8) return "int8";
    return nullptr;
}

void check_engine_limits(Plan& plan, Findings& findings) {
    if (plan.config.accelerate_only) return;
    const size_t before = plan.diagnostics.size();
    for (const Limit limit : kLimits) limit(plan, findings);
    for (size_t i = before; i < plan.diagnostics.size(); ++i) {
        const Diagnostic& problem = plan.diagnostics[i];
        const bool of_value = problem.code == "ENGINE-MODEL";  // base_model stays a used key
        const auto used = std::find(plan.keys.used.begin(), plan.keys.used.end(), problem.key);
        if (problem.severity != Severity::Error || of_value || used == plan.keys.used.end()) continue;
        plan.keys.used.erase(used);
        plan.keys.unsupported.push_back({problem.key, problem.message});
    }
}

void check_rules(const Plan& plan, Findings& findings) {
    for (const Rule rule : kRules) rule(plan, findings);
}

}  // namespace ringmaster
