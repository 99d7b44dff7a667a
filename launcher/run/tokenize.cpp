#include "launcher/run/tokenize.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <QByteArray>
#include <QProcess>
#include <QStringList>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/config/lora_targets.h"
#include "engine/error.h"
#include "launcher/base/files.h"
#include "launcher/base/format.h"
#include "launcher/run/prompts.h"

namespace ringmaster {

using nlohmann::json;

namespace {

constexpr int kPollMs = 100;
constexpr int kPatienceMs = 10'000;  ///< time a terminated step gets to exit before it is killed
constexpr size_t kKeptText = 4000;

std::string text_at(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t count_at(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

/// Runs one Python process. Parses its output and its exit status.
class PythonStep {
  public:
    /// Every Error that the step throws has `code`.
    PythonStep(const Places& places, const Progress& progress, Code code = Code("DATA-TOKENIZE"))
        : places_(places), progress_(progress), code_(code) {}

    /// Runs the step and returns its result. Throws Error or Cancelled.
    json run(const std::vector<std::string>& arguments) {
        start(arguments);
        while (process_.state() != QProcess::NotRunning) {
            if (progress_.is_cancelled()) {
                end();
                throw Cancelled();
            }
            process_.waitForReadyRead(kPollMs);
            read();
        }
        read();
        take_line(pending_);  // the last line may lack its newline
        return outcome();
    }

  private:
    void start(const std::vector<std::string>& arguments) {
        const std::filesystem::path script = places_.share_dir / "ringmaster_tokenize.py";
        if (!std::filesystem::exists(script))
            throw Error(Failure::Unreachable, Code("PROGRAM-MISSING"), "is missing", script.string(),
                        "build or install Ringmaster again");
        if (!std::filesystem::exists(places_.python())) {
            throw Error(Failure::Unreachable, Code("SETUP-PYTHON"), "there is no Python environment here",
                        places_.python_env.string(),
                        "`ringmaster setup` makes it; RINGMASTER_PYTHON_ENV names another one");
        }
        QStringList all{QString::fromStdString(script.string())};
        for (const std::string& argument : arguments) all << QString::fromStdString(argument);
        const pid_t parent = getpid();
        process_.setChildProcessModifier([parent] {
            setsid();  // keeps the terminal's Ctrl-C away from the child
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            if (getppid() != parent) _exit(1);
        });
        process_.setStandardInputFile(QProcess::nullDevice());
        process_.start(QString::fromStdString(places_.python().string()), all);
        if (!process_.waitForStarted()) {
            throw Error(Failure::Unreachable, Code("SETUP-PYTHON"),
                        "cannot be started: " + process_.errorString().toStdString(),
                        places_.python().string(), "`ringmaster setup` makes the environment");
        }
    }

    void end() {
        process_.terminate();
        if (!process_.waitForFinished(kPatienceMs)) {
            process_.kill();
            process_.waitForFinished();
        }
    }

    void read() {
        const QByteArray complaints = process_.readAllStandardError();
        said_.append(complaints.constData(), static_cast<size_t>(complaints.size()));
        if (said_.size() > 2 * kKeptText) said_.erase(0, said_.size() - kKeptText);
        const QByteArray lines = process_.readAllStandardOutput();
        pending_.append(lines.constData(), static_cast<size_t>(lines.size()));
        for (size_t newline; (newline = pending_.find('\n')) != std::string::npos;) {
            take_line(pending_.substr(0, newline));
            pending_.erase(0, newline + 1);
        }
    }

    void take_line(const std::string& line) {
        const json message = json::parse(line, nullptr, false);
        if (!message.is_object()) return;
        if (message.contains("phase")) {
            progress_.report({text_at(message, "phase"),
                              {text_at(message, "of")},
                              count_at(message, "done"),
                              count_at(message, "total")});
        } else if (message.contains("warning")) {
            progress_.warn(text_at(message, "warning"));
        } else if (message.contains("result") || message.contains("error")) {
            last_ = message;
        }
    }

    json outcome() {
        const bool whole = process_.exitStatus() == QProcess::NormalExit;
        if (whole && process_.exitCode() == 0 && last_.contains("result")) return last_["result"];
        if (last_.contains("error")) {
            const int64_t status = count_at(last_, "exit");
            if (status == 130) throw Cancelled();
            throw Error(status == 2   ? Failure::Usage
                        : status == 3 ? Failure::Unreachable
                                      : Failure::Refused,
                        code_, text_at(last_, "error"), text_at(last_, "where"), text_at(last_, "hint"));
        }
        const std::string how = whole ? "ended with status " + std::to_string(process_.exitCode())
                                      : "was killed by a signal (out of memory?)";
        const std::string said = said_.size() > kKeptText ? said_.substr(said_.size() - kKeptText) : said_;
        throw Error(Failure::Refused, code_, how + (said.empty() ? "" : ":\n" + said), "the Python step");
    }

    const Places& places_;
    const Progress& progress_;
    const Code code_;
    QProcess process_;
    std::string pending_;
    std::string said_;
    json last_ = json::object();
};

}  // namespace

json tokenize_request(const Config& config, const std::optional<ModelConfig>& model,
                      std::optional<int64_t> row_limit) {
    return {{"datasets", config.datasets},
            {"test_datasets", config.test_datasets},
            {"special_tokens", config.special_tokens},
            {"tokenization", config.tokenization},
            {"tokenizer", config.tokenizer},
            {"base_dir", config.base_dir},
            {"sequence_len", config.sequence_len},
            {"excess_length", to_string(config.excess_length)},
            {"val_set_size", config.val_set_size},
            {"seed", config.seed},
            {"curriculum_sampling", config.curriculum_sampling},
            {"sample_packing", config.sample_packing},
            {"dataset_prepared_path", config.dataset_prepared_path},
            {"preference", config.policy            ? "grpo"
                           : config.preference.on() ? to_string(config.preference.method)
                                                    : ""},
            {"completion_tokens", config.sampling ? config.policy->answer_tokens : 0},
            {"token_labels", config.token_labels},
            {"row_limit", row_limit ? json(*row_limit) : json(nullptr)},
            {"vocab_size", model ? json(model->vocab_size) : json(nullptr)}};
}

TokenizedRows tokenize(const json& request, const std::filesystem::path& request_file, const Places& places,
                       const Progress& progress) {
    write_file(request_file, request.dump(2) + "\n");
    make_folder(places.tokens_dir);
    PythonStep step(places, progress);
    const json result = step.run({"--request", request_file.string(), "--cache", places.tokens_dir.string()});
    const json counts = result.value("counts", json::object());
    TokenizedRows rows;
    rows.data.tokens = text_at(result, "tokens");
    rows.data.eval_tokens = text_at(result, "eval_tokens");
    rows.data.rows = count_at(result, "rows");
    rows.data.eval_rows = count_at(result, "eval_rows");
    rows.read = count_at(counts, "read");
    rows.dropped_long = count_at(counts, "dropped_long");
    rows.dropped_short = count_at(counts, "dropped_short");
    rows.truncated = count_at(counts, "truncated");
    rows.kept = count_at(counts, "kept");
    rows.tokens_total = count_at(result, "tokens_total");
    rows.longest = count_at(result, "longest");
    const json packing = result.value("packing", json::object());
    rows.documents = count_at(packing, "documents");
    rows.packing_efficiency = packing.value("efficiency", 0.0);
    if (const json shared = result.value("shared_prompts", json()); shared.is_object()) {
        rows.shared_prompts.tokens = shared.value("tokens", 1.0);
        rows.shared_prompts.cells = shared.value("cells", 1.0);
        rows.shared_prompts.most = shared.value("most", 1.0);
    }
    rows.cached = result.value("cached", false);
    if (rows.data.tokens.empty() || rows.data.rows <= 0) {
        throw Error(Failure::Refused, Code("DATA-TOKENIZE"), "the result names no rows: " + result.dump(),
                    "tokenizing");
    }
    return rows;
}

json tokenize_prompts(const std::filesystem::path& request_file, const Places& places,
                      const Progress& progress) {
    return PythonStep(places, progress).run({"--prompts", request_file.string()});
}

json run_python_step(const std::vector<std::string>& arguments, const char* code, const Places& places,
                     const Progress& progress) {
    return PythonStep(places, progress, Code(code)).run(arguments);
}

bool changes_vocabulary(const Config& config) {
    const auto asks = [&](const char* key) {
        const auto found = config.tokenization.find(key);
        return found != config.tokenization.end() && !found->empty() && *found != false;
    };
    return !config.special_tokens.empty() || asks("tokens") || asks("added_tokens_overrides") ||
           asks("resize_token_embeddings_to_32x") || asks("shrink_embeddings");
}

GrownModel grow_model(const Config& config, const std::filesystem::path& run_dir, const Places& places,
                      const Progress& progress) {
    const std::filesystem::path request = run_dir / "vocabulary.json";
    const json asked{{"model_dir", config.model_dir},
                     {"tokenizer", config.tokenizer},
                     {"special_tokens", config.special_tokens},
                     {"tokenization", config.tokenization},
                     {"reinit_weights", config.reinit_weights},
                     {"adapter", config.lora.on()},
                     {"modules_to_save", targets_of(config.lora).saved_modules()},
                     {"seed", config.seed}};
    write_file(request, asked.dump(2) + "\n");
    PythonStep step(places, progress);
    const json result = step.run({"--grow-model", request.string(), "--to", run_dir.string()});
    return {text_at(result, "tokenizer"), text_at(result, "model_dir")};
}

std::filesystem::path fetch_model(const Config& config, const Places& places, const Progress& progress) {
    PythonStep step(places, progress);
    std::vector<std::string> wanted = {"--fetch-model", config.base_model};
    const std::string revision = config.tokenization.value("revision_of_model", "");
    if (!revision.empty()) wanted.insert(wanted.end(), {"--revision", revision});
    const std::string folder = text_at(step.run(wanted), "model_dir");
    if (folder.empty())
        throw Error(Failure::Refused, Code("DATA-TOKENIZE"), "the result names no folder",
                    "fetching " + config.base_model);
    return folder;
}

std::string describe_losses(const TokenizedRows& rows) {
    std::string text;
    auto add = [&](int64_t count, const char* what) {
        if (count > 0) text += ", " + format_count(count) + " " + what;
    };
    add(rows.dropped_long, "longer than sequence_len dropped");
    add(rows.truncated, "cut to sequence_len");
    add(rows.dropped_short, "too short dropped");
    if (rows.documents > 0) {
        text += ", packed into " + format_count(rows.data.rows) + " of sequence_len, " +
                format_number(std::round(1000 * rows.packing_efficiency) / 10, 3) + " % full";
    }
    if (text.empty()) return text;
    return format_count(rows.read) + " rows read, " + format_count(rows.kept) + " kept" + text;
}

}  // namespace ringmaster
