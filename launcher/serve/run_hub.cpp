#include "launcher/serve/run_hub.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/history/history.h"
#include "launcher/serve/run_page.h"

namespace ringmaster {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kPoints = 600;
constexpr auto kReadEvery = std::chrono::milliseconds(800);
constexpr auto kFirstReadFor = std::chrono::milliseconds(50);  ///< enough for a coarse picture of a long run
constexpr auto kReadFor = std::chrono::milliseconds(1500);  ///< a browser redraws all charts after each read
constexpr auto kKeepFor = std::chrono::minutes(2);

std::string text_of_json(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

struct RunHub::Served {
    std::mutex lock;
    RunDirectory run;
    std::unique_ptr<RunHistory> history;
    std::optional<Plan> plan;
    Clock::time_point read{}, asked{};
    PageText page;

    explicit Served(RunDirectory at) : run(std::move(at)) {}

    void refresh() {
        const bool is_whole = history && history->progress().whole();
        if (page.json && is_whole && Clock::now() - read < kReadEvery) return;
        std::string text;
        try {
            if (!history) open();
            history->read(page.json ? kReadFor : kFirstReadFor);
            text = text_of_json(run_page(*history, plan ? &*plan : nullptr, unix_now(), kPoints));
        } catch (const Error& problem) {
            history.reset();
            text = text_of_json({{"name", run.name()}, {"problem", problem.what()}});
        }
        read = Clock::now();
        if (page.json && *page.json == text) return;
        page = {page.version + 1, std::make_shared<const std::string>(std::move(text))};
    }

  private:
    void open() {
        history = std::make_unique<RunHistory>(run);
        try {
            plan = read_plan(run.plan().string());
        } catch (const Error&) {  // a run without a plan has no estimates
            plan.reset();
        }
    }
};

RunHub::RunHub(RunDirectory run) : one_(std::move(run)) {}
RunHub::RunHub(std::filesystem::path runs_dir) : runs_dir_(std::move(runs_dir)) {}
RunHub::~RunHub() = default;

std::string RunHub::list() const {
    json list = json::array();
    const std::filesystem::path dir = one_ ? one_->dir.parent_path() : runs_dir_;
    for (const RunSummary& run : list_runs(dir)) {
        if (one_ && run.dir != one_->dir) continue;
        json shown = summary_to_json(run);
        shown.erase("dir");
        list.push_back(std::move(shown));
    }
    return text_of_json(list);
}

/// Finds a run by its name only, so that no path can lead out of the folder.
std::optional<RunDirectory> RunHub::find(const std::string& name) const {
    if (one_) return name == one_->name() ? one_ : std::nullopt;
    try {
        check_run_name(name);
    } catch (const Error&) {
        return std::nullopt;
    }
    const RunDirectory run{runs_dir_ / name};
    std::error_code unknown;
    return std::filesystem::is_regular_file(run.state(), unknown) ? std::optional(run) : std::nullopt;
}

/// Frees the events of runs that nobody looks at any more.
void RunHub::forget_idle() {
    const auto since = Clock::now() - kKeepFor;
    std::erase_if(runs_, [&](const auto& one) { return one.second->asked < since; });
}

std::shared_ptr<RunHub::Served> RunHub::served(const std::string& name) {
    const std::lock_guard guard(lock_);
    forget_idle();
    auto found = runs_.find(name);
    if (found == runs_.end()) {
        const auto run = find(name);
        if (!run) return nullptr;
        found = runs_.emplace(name, std::make_shared<Served>(*run)).first;
    }
    found->second->asked = Clock::now();
    return found->second;
}

std::optional<PageText> RunHub::page(const std::string& name) {
    const auto run = served(name);
    if (!run) return std::nullopt;
    const std::lock_guard guard(run->lock);
    run->refresh();
    return run->page;
}

}  // namespace ringmaster
