// generate: continues prompts with a trained model, and with its base for comparison if asked to.
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/cli/look_commands.h"
#include "launcher/rows/ask_run.h"
#include "launcher/rows/generate.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string base_of(const Arguments& arguments) {
    const std::string base = arguments.text("--base");
    return base.empty() ? base : absolute_path(base).string();
}

/// Returns the folder that the command names if it holds a model or an adapter.
std::optional<fs::path> model_folder(const Arguments& arguments) {
    const fs::path folder = absolute_path(arguments.operand());
    const bool is_model = fs::exists(folder / "adapter_config.json") || fs::exists(folder / "config.json");
    return is_model ? std::optional(folder) : std::nullopt;
}

GenerateOptions options_of(const Arguments& arguments) {
    GenerateOptions options;
    for (const std::string& prompt : arguments.all("--prompt")) {
        options.prompts.push_back(arguments.has("--chat") ? json{{{"role", "user"}, {"content", prompt}}}
                                                          : json(prompt));
    }
    if (options.prompts.empty())
        throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "is missing", "--prompt", "--prompt TEXT");
    options.max_new_tokens = arguments.whole("--max-new-tokens", 1).value_or(options.max_new_tokens);
    options.temperature = arguments.number("--temperature").value_or(0);
    options.top_k = arguments.whole("--top-k", 1).value_or(0);
    options.top_p = arguments.number("--top-p").value_or(1);
    if (options.top_p > 1)
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "is above 1", "--top-p", "a share of up to 1");
    if ((options.top_k > 0 || options.top_p < 1) && options.temperature == 0) options.temperature = 1;
    options.seed = arguments.whole("--seed", 0).value_or(0);
    options.compares = arguments.has("--compare");
    options.device = arguments.text("--device") == "cuda" ? "cuda" : "cpu";
    return options;
}

/// Prints the completion of a single prompt token by token, and several completions as each one ends.
class Printer {
  public:
    /// `streams`: the tokens of a single prompt come one by one.
    Printer(const CommandContext& session, const GenerateOptions& options, ProgressPrinter& progress,
            bool streams)
        : session_(session),
          options_(options),
          progress_(progress),
          streams_(streams && options.prompts.size() == 1) {}

    void take(const json& line) {
        progress_.clear();
        if (session_.json) return print_line(line);
        const std::string type = line.at("type");
        if (type == "token" && streams_) {
            begin(line);
            print(line.at("text").get<std::string>());
        } else if (type == "completion") {
            begin(line);
            print((streams_ ? "" : line.at("text").get<std::string>()) + "\n");
            begun_ = false;
        } else if (type == "generated") {
            const double seconds = line.at("seconds");
            const auto tokens = line.at("tokens").get<double>();
            complain(session_.err.ink.dim(
                line.at("model").get<std::string>() + ": " +
                std::to_string(line.at("tokens").get<int64_t>()) + " tokens, " +
                std::to_string(static_cast<int64_t>(tokens / std::max(seconds, 1e-9))) + " tokens/s\n"));
        }
    }

  private:
    /// Prints which model's text follows, and the prompt that it continues.
    void begin(const json& line) {
        if (begun_) return;
        begun_ = true;
        if (options_.compares) print(session_.out.ink.bold(line.at("model").get<std::string>() + ": "));
        const json& prompt = options_.prompts.at(line.at("prompt").get<size_t>());
        if (prompt.is_string()) print(session_.out.ink.dim(prompt.get<std::string>()));
    }

    const CommandContext& session_;
    const GenerateOptions& options_;
    ProgressPrinter& progress_;
    const bool streams_;
    bool begun_ = false;
};

/// Sends the prompts to a run that is still training, and prints its answers.
int ask(const RunDirectory& run, const GenerateOptions& options, const CommandContext& session) {
    if (options.compares)
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "needs a run that has ended", "--compare",
                    "leave --compare out while " + run.name() + " trains");
    const Interrupts interrupts;
    ProgressPrinter progress(session, interrupts);
    Printer printer(session, options, progress, false);
    int64_t step = 0;
    ask_run_and_wait(run, options, session.places, progress.progress(), [&](const json& line) {
        printer.take(line);
        step = line.at("step");
    });
    if (!session.json)
        complain(session.err.ink.dim(run.name() + ": after step " + std::to_string(step) + "\n"));
    return 0;
}

int run_generate(const Arguments& arguments, const CommandContext& session) {
    const GenerateOptions options = options_of(arguments);
    const std::optional<fs::path> folder = model_folder(arguments);
    if (!folder) {
        const RunDirectory run = run_of(arguments, session);
        if (trains_here(read_run_state(run.dir))) return ask(run, options, session);
    }
    const ModelsToTry models =
        folder ? models_of_folder(*folder, base_of(arguments)) : models_of_run(run_of(arguments, session));
    const Interrupts interrupts;
    ProgressPrinter progress(session, interrupts);
    Printer printer(session, options, progress, true);
    generate_text(models, options, session.places, progress.progress(),
                  [&](const json& line) { printer.take(line); });
    return 0;
}

}  // namespace

Command generate_command() {
    return {{
                "generate",
                "RUN|FOLDER",
                true,
                "Continues prompts with a trained model, an adapter or a run, also while it trains.",
                {{"--prompt", "TEXT", "a prompt; may be repeated", true},
                 {"--chat", "", "each prompt is a user's message, and the chat template asks for the answer"},
                 {"--compare", "", "the base model answers too, before the trained one"},
                 {"--base", "DIR", "the base model's folder, if an adapter names another place"},
                 {"--max-new-tokens", "N", "ends a completion after N tokens (200)"},
                 {"--temperature", "T",
                  "draws tokens by their probabilities at this temperature; without it, takes the most "
                  "probable one"},
                 {"--top-k", "K", "draws among the K most probable tokens"},
                 {"--top-p", "P", "draws among the most probable tokens that together have this probability"},
                 {"--seed", "S", "draws the same tokens for the same seed (0)"},
                 {"--device", "cpu|cuda", "where the model runs (cpu)"},
                 runs_dir_option(),
                 json_option()},
                "FOLDER is a model's folder, or an adapter's that PEFT or a run saved. One prompt's text is "
                "printed while it is made. A run that trains on this machine answers after its present step, "
                "with the weights that it has then. --top-k and --top-p alone imply temperature 1.",
            },
            run_generate,
            true};
}

}  // namespace ringmaster
