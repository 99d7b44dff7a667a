#include "launcher/rows/ask_run.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "engine/error.h"
#include "engine/plan/plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/base/files.h"
#include "launcher/history/history.h"
#include "launcher/run/prompts.h"

namespace ringmaster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::chrono::milliseconds kReading{50};
constexpr int64_t kFewSteps = 1;

fs::path question_of(const RunDirectory& run) {
    return run.dir / "samples_wanted.json";
}

[[noreturn]] void refuse(const RunDirectory& run, const std::string& what, const std::string& hint) {
    throw Error(Failure::Refused, Code("GENERATE-RUN"), what, run.name(), hint);
}

/// Returns the number of prompts that the run continues at every evaluation.
int own_prompts(const RunDirectory& run) {
    const fs::path file = run.dir / "samples.json";
    return fs::exists(file) ? static_cast<int>(read_json_file(file).value("prompts", json::array()).size())
                            : 0;
}

/// Returns the last step after which the prompt of this number was continued; 0: none.
int64_t last_answered(const RunHistory& history, int prompt) {
    int64_t last = 0;
    for (const auto& [step, samples] : history.samples()) {
        if (samples.contains(prompt)) last = step;
    }
    return last;
}

/// Throws Error(Refused) if the run has warned that it cannot answer, or if it is over.
void check_alive(RunHistory& history, const RunDirectory& run) {
    for (const Happening& news : history.take_news()) {
        const auto* warning = std::get_if<WarningEvent>(&news.event);
        if (warning != nullptr && warning->where == "samples")
            refuse(run, "cannot answer: " + warning->message, "ask for something shorter");
    }
    if (is_over(history.state().state))
        refuse(run, "ended before it answered", "`ringmaster generate` takes a completed run too");
}

void read_all(RunHistory& history) {
    while (history.read(kReading) || !history.progress().whole()) {
    }
}

}  // namespace

bool trains_here(const RunState& state) {
    return state.state == RunPhase::Running && living_process(state).has_value();
}

void ask_run(const RunDirectory& run, const GenerateOptions& options, const Places& places,
             const Progress& progress) {
    if (!trains_here(read_run_state(run.dir)))
        refuse(run, "does not train on this machine now", "`ringmaster watch` shows its state");
    const fs::path question = question_of(run);
    if (fs::exists(question))
        refuse(run, "has not answered the last question yet", "it answers after its present step");
    const Config config = read_plan(run.plan().string()).config;
    const fs::path folder = run.dir / "wanted";
    make_folder(folder);
    json asked = encode_prompts(config, tokenizer_among({config.tokenizer, config.model_dir}),
                                options.prompts, folder, places, progress);
    asked.update({{"asked", options.prompts},
                  {"max_new_tokens", options.max_new_tokens},
                  {"temperature", options.temperature},
                  {"top_k", options.top_k},
                  {"top_p", options.top_p},
                  {"seed", options.seed}});
    write_file(question, asked.dump() + "\n");
}

void ask_run_and_wait(const RunDirectory& run, const GenerateOptions& options, const Places& places,
                      const Progress& progress, const OnGenerated& on_line) {
    RunHistory history(run, kFewSteps);
    read_all(history);
    history.take_news();
    const int first = own_prompts(run), last = first + static_cast<int>(options.prompts.size()) - 1;
    const int64_t before = last_answered(history, last);
    ask_run(run, options, places, progress);
    progress.report({"step-end"});
    while (last_answered(history, last) <= before) {
        if (progress.is_cancelled()) {
            std::error_code none;
            fs::remove(question_of(run), none);
            throw Cancelled();
        }
        check_alive(history, run);
        if (!history.read(kReading)) std::this_thread::sleep_for(kReading);
    }
    const int64_t step = last_answered(history, last);
    for (int prompt = first; prompt <= last; ++prompt) {
        const Sample& sample = history.samples().at(step).at(prompt);
        on_line({{"type", "completion"},
                 {"model", "trained"},
                 {"prompt", prompt - first},
                 {"text", sample.text},
                 {"stopped", sample.stopped},
                 {"step", step}});
    }
}

}  // namespace ringmaster
