/// Describes the server that completes a run's prompts: `trl.use_vllm: true` in mode `server`. It speaks the
/// OpenAI completions protocol with token ids, as vLLM and SGLang do, over http or https.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ringmaster {

/// Selects the ratio exp(log p − the server's log p) that multiplies the loss: one for each label, or one for
/// each completion, the product over its labels. A ratio above the cap is cut to the cap (truncate) or
/// becomes 0 (mask).
enum class ImportanceRatio { TokenTruncate, TokenMask, SequenceTruncate, SequenceMask };

/// Returns TRL's word: "token_truncate", "token_mask", "sequence_truncate" or "sequence_mask".
const char* to_string(ImportanceRatio ratio);

/// The words and default values are those of TRL 1.16 (trainer/grpo_config.py, vllm_importance_sampling_*).
/// TRL has no words for the API key and the CA's file.
struct RolloutServer {
    std::string host = "0.0.0.0";
    int64_t port = 8000;
    /// Scheme and host, with optional port and path; replaces `host` and `port` unless empty.
    std::string url = {};
    /// The API key is the value of this environment variable of the run, or the text of this file; no
    /// configuration holds it. If both are empty, no key is sent.
    std::string key_variable = {};
    std::string key_file = {};
    std::string ca_file = {};  ///< PEM file of the CAs to trust; empty: the system's CAs
    int64_t timeout = 240;     ///< seconds for one step's completions, retries included
    /// A shell command that makes the server load the folder in $RINGMASTER_WEIGHTS. If it is empty, the run
    /// uses the endpoint of SGLang or vLLM for this.
    std::string reload_command = {};
    bool corrects = true;  ///< false: the run does not ask for the server's log-probabilities
    ImportanceRatio ratio = ImportanceRatio::SequenceMask;
    double cap = 3;

    std::string address() const;  ///< such as "http://127.0.0.1:8000", without a slash at its end
};

class KeyReader;

/// Reads `trl.use_vllm` and `trl.vllm_*`; relative paths start from `base_dir`. Returns nothing if the run
/// samples its completions itself.
std::optional<RolloutServer> read_rollout_server(KeyReader& keys, const std::string& base_dir);

}  // namespace ringmaster
