#include "engine/sample/generate.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "engine/error.h"
#include "engine/model/key_value_cache.h"

namespace ringmaster {

namespace {

constexpr int64_t kTokensInPass = 2048;  ///< a prompt waits if the pass would exceed this with it

[[noreturn]] void refuse(size_t prompt, const std::string& what, const std::string& hint) {
    throw Error(Failure::Refused, Code("GENERATE-PROMPT"), what, "prompt " + std::to_string(prompt + 1),
                hint);
}

int64_t length_of(const Prompt& prompt) {
    return static_cast<int64_t>(prompt.ids.size());
}

void check_layers(const ModelConfig& model) {
    if (model.has_recurrent_layers())
        throw Error(Failure::Refused, Code("ENGINE-MODEL"),
                    "the engine trains layers that pass a state along, but cannot generate with them yet",
                    model.model_type);
}

/// Returns the most tokens that a prompt's sequence may have.
int64_t places_of(const ModelConfig& model, const Prompt& prompt, const Generation& generation) {
    return std::min(length_of(prompt) + generation.max_new_tokens, model.max_position_embeddings);
}

/// Returns the sequence length above which rotary embeddings use other angles; none if they never change.
std::optional<int64_t> turning_length(const ModelConfig& model) {
    for (const RopeConfig& rope : model.ropes) {
        if (rope.type == "longrope" && rope.original_max_position_embeddings < model.max_position_embeddings)
            return rope.original_max_position_embeddings;
    }
    return {};
}

void check_turning_length(const ModelConfig& model, size_t index, const Prompt& prompt,
                          const Generation& generation) {
    const std::optional<int64_t> turn = turning_length(model);
    if (!turn || length_of(prompt) > *turn || places_of(model, prompt, generation) <= *turn) return;
    refuse(index,
           "has " + std::to_string(length_of(prompt)) + " tokens: the new ones would pass the length of " +
               std::to_string(*turn) +
               ", where this model's rotary embedding (longrope) changes for all tokens",
           "ask for at most " + std::to_string(*turn - length_of(prompt)) + " new tokens");
}

/// Decodes sequences until each has its completion.
class Decoding {
  public:
    Decoding(Decoder& decoder, const ModelConfig& model, at::ScalarType dtype, at::Device device,
             const std::vector<Prompt>& prompts, std::deque<size_t> waiting, const Generation& generation,
             RankProgress& progress, std::vector<Completion>& completions)
        : decoder_(decoder),
          model_(model),
          device_(device),
          prompts_(prompts),
          waiting_(std::move(waiting)),
          generation_(generation),
          progress_(progress),
          completions_(completions),
          rows_(static_cast<size_t>(std::clamp<int64_t>(
              generation.at_once, 1, std::max<int64_t>(1, static_cast<int64_t>(waiting_.size()))))) {
        int64_t places = 1;
        for (const size_t prompt : waiting_)
            places = std::max(places, places_of(model, prompts[prompt], generation));
        cache_.emplace(model, static_cast<int64_t>(rows_.size()), places, places, dtype, device);
    }

    bool needs_pass() const {
        return !waiting_.empty() ||
               std::any_of(rows_.begin(), rows_.end(), [](const auto& row) { return row.has_value(); });
    }

    /// Computes one token of each sequence. Returns false if `on_token` ends the generation.
    bool pass(const OnToken& on_token) {
        const std::vector<size_t> active = admit();
        const at::Tensor ids = at::tensor(new_ids_, at::kLong).to(device_);
        cache_->begin(counts_);
        const at::Tensor logits_bv =
            decoder_.decode(ids, *cache_, progress_).to(at::kCPU, at::kFloat).contiguous();
        std::vector<ChosenToken> chosen(active.size());
        at::parallel_for(0, static_cast<int64_t>(active.size()), 1, [&](int64_t begin, int64_t end) {
            for (int64_t b = begin; b < end; ++b)
                chosen[static_cast<size_t>(b)] = choose(active[static_cast<size_t>(b)],
                                                        logits_bv.data_ptr<float>() + b * model_.vocab_size);
        });
        for (size_t b = 0; b < active.size(); ++b) {
            if (!take(active[b], chosen[b], on_token)) return false;
        }
        return true;
    }

    /// Runs a pass only because other ranks need one, and drops its result.
    void idle_pass() {
        counts_.assign(rows_.size(), 0);
        counts_[0] = 1;
        cache_->restart(0);
        cache_->begin(counts_);
        decoder_.decode(at::zeros({1}, at::kLong).to(device_), *cache_, progress_);
    }

  private:
    /// Sets the new tokens of the next pass; gives free rows to waiting prompts. Returns the rows in the
    /// pass.
    std::vector<size_t> admit() {
        new_ids_.clear();
        counts_.assign(rows_.size(), 0);
        std::vector<size_t> active;
        for (size_t row = 0; row < rows_.size(); ++row) {
            if (rows_[row]) {
                new_ids_.push_back(completions_[*rows_[row]].ids.back());
                counts_[row] = 1;
            } else if (!begin_prompt(row)) {
                continue;
            }
            active.push_back(row);
        }
        return active;
    }

    bool begin_prompt(size_t row) {
        if (waiting_.empty()) return false;
        const std::vector<int64_t>& ids = prompts_[waiting_.front()].ids;
        if (!new_ids_.empty() && new_ids_.size() + ids.size() > kTokensInPass) return false;
        new_ids_.insert(new_ids_.end(), ids.begin(), ids.end());
        cache_->restart(static_cast<int64_t>(row));
        counts_[row] = static_cast<int64_t>(ids.size());
        rows_[row] = waiting_.front();
        waiting_.pop_front();
        return true;
    }

    ChosenToken choose(size_t row, float* logits) const {
        const auto made = static_cast<int64_t>(completions_[*rows_[row]].ids.size());
        return choose_token(logits, model_.vocab_size, generation_.choice,
                            random_number(generation_.choice.seed, prompts_[*rows_[row]].stream, made));
    }

    bool take(size_t row, const ChosenToken& token, const OnToken& on_token) {
        const size_t index = *rows_[row];
        Completion& completion = completions_[index];
        completion.ids.push_back(token.id);
        completion.log_probabilities.push_back(token.log_probability);
        completion.stopped = std::find(generation_.stop_ids.begin(), generation_.stop_ids.end(), token.id) !=
                             generation_.stop_ids.end();
        const Prompt& prompt = prompts_[index];
        const auto made = static_cast<int64_t>(completion.ids.size());
        if (completion.stopped || length_of(prompt) + made >= places_of(model_, prompt, generation_))
            rows_[row].reset();
        return !on_token || on_token(index, token);
    }

    Decoder& decoder_;
    const ModelConfig& model_;
    const at::Device device_;
    const std::vector<Prompt>& prompts_;
    std::deque<size_t> waiting_;
    const Generation& generation_;
    RankProgress& progress_;
    std::vector<Completion>& completions_;
    std::vector<std::optional<size_t>> rows_;  ///< the prompt in each row of the cache
    std::optional<KeyValueCache> cache_;
    std::vector<int64_t> new_ids_, counts_;
};

}  // namespace

void check_prompts(const ModelConfig& model, const std::vector<Prompt>& prompts,
                   const Generation& generation) {
    check_layers(model);
    for (size_t i = 0; i < prompts.size(); ++i) {
        const Prompt& prompt = prompts[i];
        if (prompt.ids.empty()) refuse(i, "has no tokens", "give at least one token to go on from");
        for (const int64_t id : prompt.ids) {
            if (id < 0 || id >= model.vocab_size)
                refuse(i, "has the token " + std::to_string(id) + ", which the model does not know",
                       "use the tokenizer of this model");
        }
        if (length_of(prompt) >= model.max_position_embeddings)
            refuse(i,
                   "has " + std::to_string(length_of(prompt)) + " tokens, and the model " +
                       std::to_string(model.max_position_embeddings) + " positions",
                   "shorten the prompt: at least one position must be left for an answer");
        check_turning_length(model, i, prompt, generation);
    }
}

std::vector<Completion> generate(Decoder& decoder, const ModelConfig& model, at::ScalarType dtype,
                                 at::Device device, const std::vector<Prompt>& prompts,
                                 const Generation& generation, RankProgress& progress,
                                 const OnToken& on_token) {
    const at::NoGradGuard no_grad;
    std::vector<Completion> completions(prompts.size());
    if (generation.max_new_tokens <= 0) return completions;
    std::deque<size_t> groups[2];  // [0]: sequences up to the length at which angles change; [1]: longer ones
    for (size_t i = 0; i < prompts.size(); ++i) {
        const std::optional<int64_t> turn = turning_length(model);
        groups[turn && length_of(prompts[i]) > *turn ? 1 : 0].push_back(i);
    }
    for (const std::deque<size_t>& group : groups) {
        Decoding decoding(decoder, model, dtype, device, prompts, group, generation, progress, completions);
        const auto goes_on = [&] {
            return generation.any_rank ? generation.any_rank(decoding.needs_pass()) : decoding.needs_pass();
        };
        while (goes_on()) {
            if (!decoding.needs_pass())
                decoding.idle_pass();
            else if (!decoding.pass(on_token))
                return completions;
        }
    }
    return completions;
}

}  // namespace ringmaster
