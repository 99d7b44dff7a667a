/// Follows RUN/samples.jsonl by byte offset: the texts that a run writes while it trains
/// (engine/train/training_samples.h). The file may come from a node, so the reader limits what it keeps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ringmaster {

constexpr const char* kSamplesFile = "samples.jsonl";  ///< name in a run directory

/// Holds how a run continued one of its prompts.
struct Sample {
    std::string prompt;  ///< text; for a chat of several messages, a line "role: content" for each
    std::string text;
    bool is_chat = false;
    bool stopped = false;  ///< true if the model ended the text, false if sample_max_new_tokens did

    bool operator==(const Sample&) const = default;
};

/// The samples of one step, by the prompt's number.
using SamplesOfStep = std::map<int, Sample>;

struct SampleLine {
    int64_t step = 0;
    int prompt = 0;  ///< counts from 0
    Sample sample;
};

/// Returns nullopt for a line that is damaged, is longer than kMostLine or has a prompt number from
/// kMostPrompts on. Cuts long texts. Never throws.
std::optional<SampleLine> parse_sample(std::string_view line);

class SampleFile {
  public:
    static constexpr int64_t kMostLine = 4 << 20;
    static constexpr int kMostPrompts = 256;
    static constexpr size_t kMostPrompt = 4 << 10;  ///< bytes kept of a prompt
    static constexpr size_t kMostText = 16 << 10;   ///< bytes kept of a text
    /// Maximum bytes kept of all samples; samples of earlier steps are dropped first.
    static constexpr size_t kMostBytes = 16U << 20;

    explicit SampleFile(std::filesystem::path file) : file_(std::move(file)) {}

    /// Reads new complete lines, at most kMostLine bytes. Returns true if it read a sample.
    bool poll();

    /// Returns the samples by step. A run that resumes at an earlier step replaces the samples of later
    /// steps.
    const std::map<int64_t, SamplesOfStep>& steps() const { return steps_; }
    size_t bytes() const { return bytes_; }

  private:
    bool take(std::string_view line);
    void drop(std::map<int64_t, SamplesOfStep>::iterator step);

    std::filesystem::path file_;
    int64_t offset_ = 0;
    bool skipping_ = false;  ///< inside a line that is too long
    std::map<int64_t, SamplesOfStep> steps_;
    size_t bytes_ = 0;
};

}  // namespace ringmaster
