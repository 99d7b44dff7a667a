/// Defines the event schema: one JSON object per line in events/rank-00000.jsonl. Units are in the names
/// (`_s`, `_bytes`). Readers skip fields and types that they do not know; a later line for the same step and
/// rank replaces the earlier one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace ringmaster {

/// Holds means over a step's pairs or rows in a run that trains on preferences; figures that the method does
/// not compute are not written. A completion's reward is beta times the number that the loss compares.
struct LossFigures {
    std::optional<double> rewards_chosen, rewards_rejected;
    std::optional<double> margin;    ///< chosen − rejected
    std::optional<double> accuracy;  ///< share of pairs whose chosen completion has the higher reward
    std::optional<double> kl;        ///< divergence from the reference, as KTO estimates it
    std::optional<double> nll;       ///< mean loss of the chosen completions' labels
    /// Mean absolute difference between the log-probabilities of the run and of the server that sampled.
    std::optional<double> sampler_gap = {};
    std::optional<double> clip_share =
        {};  ///< share of a policy's ratios that clipping leaves without a gradient
};

/// Holds means over a step's completions in a run that samples its completions.
struct SamplingFigures {
    /// Mean and standard deviation of the completions' rewards, each the weighted sum of all functions'
    /// rewards.
    std::optional<double> reward, reward_std;
    std::optional<double> completion_tokens;
    /// Share of completions that were cut at the maximum length.
    std::optional<double> cut_share;
    std::optional<double> even_share;  ///< share of completions whose group has equal rewards
    /// Mean reward per function, over the completions to which the function gave a reward.
    std::map<std::string, double> functions = {};
};

struct StepEvent {
    int64_t step = 0;  ///< completed optimizer steps: the first is 1
    double epoch = 0;
    double loss = 0;                  ///< global, equal on all ranks
    std::optional<double> rank_loss;  ///< mean over this rank's valid labels
    int64_t tokens = 0;               ///< global count, without padding
    int64_t valid_tokens = 0;         ///< global count of valid labels
    int64_t rank_valid_tokens = 0;
    double lr = 0;
    double grad_norm = 0;  ///< gradient norm before clipping
    double step_s = 0;     ///< data_s + compute_s + exposed_comm_s
    double compute_s = 0;
    double comm_s = 0;          ///< time that collectives were in flight
    double exposed_comm_s = 0;  ///< the part of comm_s that computation did not hide
    int64_t comm_bytes = 0;
    double data_s = 0;
    int64_t memory_bytes = 0;
    int64_t peak_memory_bytes = 0;  ///< peak in the step, or in an evaluation since the previous step
    double tokens_per_s = 0;
    int64_t position_sum = 0;           ///< sum of this rank's position ids
    int64_t attention_cells = 0;        ///< cells of the attention mask that this rank computed for each head
    std::optional<double> loss_scale;   ///< scale of this step, if `fp16: true`; not written otherwise
    std::optional<double> router_loss;  ///< added to `loss` for the gradients; only if the model asks for it
    bool skipped = false;  ///< true if float16 overflowed, so that no update was made; else not written
    LossFigures preference = {};
    SamplingFigures sampling = {};
    std::optional<int64_t> host_memory_bytes;  ///< peak of offloaded tensors, which memory_bytes leaves out
};

struct HelloEvent {
    int attempt = 1;
    std::string version, torch_version, host, device;
    std::string network;  ///< NCCL's settings on this node; empty on the CPU
    int64_t pid = 0;
    int world_size = 1;
    int dp_replicate = 0, dp_shard = 0, ring = 0, ulysses = 0;  ///< mesh coordinates
    int64_t start_step = 0;  ///< completed steps that this attempt starts from
};

struct PhaseEvent {
    std::string name;
    int64_t done = 0;
    int64_t total = 0;
};

struct DeviceEvent {
    std::optional<double> utilisation, temperature_c, clock_mhz, power_w;
};

struct EvalEvent {
    int64_t step = 0;
    double loss = 0;
    int64_t tokens = 0;  ///< valid labels that the mean is taken over
    LossFigures preference = {};
};

struct WarningEvent {
    std::string message, where;
};

struct CheckpointEvent {
    int64_t step = 0;
    std::string path;
    double seconds = 0;
};

/// Texts that the run wrote into samples.jsonl of its run directory, one line for each prompt.
struct SamplesEvent {
    int64_t step = 0;
    int64_t prompts = 0;
    int64_t bytes = 0;  ///< size of samples.jsonl after these lines were appended
};

struct DoneEvent {
    int64_t step = 0;
    std::string state;  ///< "completed" or "stopped"
};

struct ErrorEvent {
    std::string message, where;
    std::string code = {};   ///< the Error's code, such as "ENGINE-MEMORY"; empty in older versions' events
    std::string cause = {};  ///< the Error's cause, such as "peer-lost"; empty if the code implies it
};

using Event = std::variant<StepEvent, HelloEvent, PhaseEvent, DeviceEvent, EvalEvent, WarningEvent,
                           CheckpointEvent, DoneEvent, ErrorEvent, SamplesEvent>;

struct EventLine {
    double t = 0;  ///< Unix seconds
    int rank = 0;
    Event event;
};

/// Returns the line without the newline. NaN and infinity, which JSON cannot express, become null; bytes that
/// are not UTF-8 become U+FFFD.
std::string to_json_line(const EventLine& line);

/// Returns the event; nothing if the line is not one of ours (unknown type, damaged, half-written, a number
/// outside the ranges of limits.h). Never throws. Cuts texts that are too long. `type`, `t`, `rank` and any
/// `step` must be present. Any other field that is missing or null reads as NaN (a measured or computed
/// number is then unknown, not 0), as nothing (std::optional), or as the default of its struct.
std::optional<EventLine> parse_event(std::string_view line);

}  // namespace ringmaster
