// The table holds names from transformers' TrainingArguments and example scripts, from TRL and from
// LLaMA-Factory.
#include "engine/config/other_names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/config/keys.h"
#include "engine/words/spelling.h"

namespace ringmaster {

namespace {

constexpr std::array<std::pair<std::string_view, const char*>, 25> kOtherNames{{
    {"cutoff_len", "sequence_len"},
    {"epochs", "num_epochs"},
    {"grad_clip", "max_grad_norm"},
    {"lora_rank", "lora_r"},
    {"lora_target", "lora_target_modules"},
    {"lr", "learning_rate"},
    {"lr_scheduler_type", "lr_scheduler"},
    {"max_gradient_norm", "max_grad_norm"},
    {"max_length", "sequence_len"},
    {"max_seq_len", "sequence_len"},
    {"max_seq_length", "sequence_len"},
    {"model_name", "base_model"},
    {"model_name_or_path", "base_model"},
    {"num_train_epochs", "num_epochs"},
    {"optim", "optimizer"},
    {"per_device_eval_batch_size", "eval_batch_size"},
    {"per_device_train_batch_size", "micro_batch_size"},
    {"run_name", "wandb_name"},
    {"seq_len", "sequence_len"},
    {"seq_length", "sequence_len"},
    {"sequence_length", "sequence_len"},
    {"tokenizer_name_or_path", "tokenizer_config"},
    {"tokenizer_path", "tokenizer_config"},
    {"train_batch_size", "micro_batch_size"},
    {"wandb_run_name", "wandb_name"},
}};

}  // namespace

std::string meant_key(std::string_view key, const std::vector<std::string>& known) {
    const auto other = std::ranges::find(kOtherNames, key, [](const auto& name) { return name.first; });
    return other == kOtherNames.end() ? misspelt_word(key, known) : other->second;
}

}  // namespace ringmaster
