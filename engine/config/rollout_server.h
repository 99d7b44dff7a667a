/// Describes the server that completes a run's prompts: `trl.use_vllm: true` in mode `server`. It speaks the
/// OpenAI completions protocol with token ids, as vLLM and SGLang do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ringmaster {

/// Selects the ratio exp(log p − the server's log p) that multiplies the loss: of each label, or of the
/// product over a completion's labels. One above the cap is cut to the cap (truncate) or becomes 0 (mask).
enum class ImportanceRatio { TokenTruncate, TokenMask, SequenceTruncate, SequenceMask };

/// Returns TRL's word: "token_truncate", "token_mask", "sequence_truncate" or "sequence_mask".
const char* to_string(ImportanceRatio ratio);

/// The words and default values are those of TRL 1.16 (trainer/grpo_config.py, vllm_importance_sampling_*).
struct RolloutServer {
    std::string host = "0.0.0.0";
    int64_t port = 8000;
    int64_t timeout = 240;  ///< seconds for one step's completions, with all attempts
    /// A shell command that makes the server load the folder in $RINGMASTER_WEIGHTS; empty: by the endpoint
    /// of SGLang or vLLM.
    std::string reload_command = {};
    bool corrects = true;  ///< false: the server's log-probabilities are not asked for
    ImportanceRatio ratio = ImportanceRatio::SequenceMask;
    double cap = 3;

    std::string address() const;  ///< such as "http://127.0.0.1:8000"
};

class KeyReader;

/// Reads `trl.use_vllm` and `trl.vllm_*`. Returns nothing if the run samples its completions itself.
std::optional<RolloutServer> read_rollout_server(KeyReader& keys);

}  // namespace ringmaster
