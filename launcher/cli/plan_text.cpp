#include "launcher/cli/plan_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "engine/error.h"
#include "engine/layout/layout.h"
#include "engine/plan/attention_kernels.h"
#include "engine/plan/expert_parallel.h"
#include "engine/plan/memory/memory.h"
#include "engine/plan/nccl_settings.h"
#include "engine/plan/node_fit.h"
#include "launcher/base/format.h"
#include "launcher/run/local_node.h"

namespace ringmaster {

namespace {

constexpr int kLabel = 11;  ///< columns before a section's text
constexpr int kWidestBar = 72;
constexpr int kDrawnRanks = 8;

struct Component {
    const char* name;
    char letter;  ///< shown in the bar if there is no colour
    int colour;
    int64_t RankMemory::*bytes;
};

constexpr std::array<Component, 8> kComponents = {{{"weights", 'W', 33, &RankMemory::weights},
                                                   {"gradients", 'G', 75, &RankMemory::gradients},
                                                   {"optimizer", 'O', 111, &RankMemory::optimizer},
                                                   {"activations", 'A', 208, &RankMemory::activations},
                                                   {"workspace", 'K', 215, &RankMemory::workspace},
                                                   {"logits", 'L', 167, &RankMemory::logits},
                                                   {"communication", 'C', 72, &RankMemory::communication},
                                                   {"runtime", 'R', 245, &RankMemory::runtime}}};

std::string ranks_text(const Plan& plan) {
    const bool cuda = plan.device == Device::Cuda;
    std::string text =
        format_count(plan.ranks) + (cuda ? " GPU" : " CPU rank") + (plan.ranks == 1 ? "" : "s");
    return plan.nodes > 1 ? text + " on " + std::to_string(plan.nodes) + " nodes" : text;
}

/// Returns what a step does while it does not compute, in the words of the app: one rank has nobody to
/// communicate with.
std::string exposed_name(const Plan& plan) {
    return plan.ranks > 1 ? "exposed communication" : "waiting for offloaded data";
}

const RankMemory* fullest(const Plan& plan) {
    if (!plan.memory || plan.memory->per_rank.empty()) return nullptr;
    const auto& ranks = plan.memory->per_rank;
    return &*std::max_element(ranks.begin(), ranks.end(),
                              [](const RankMemory& a, const RankMemory& b) { return a.total < b.total; });
}

/// Returns the path as a user would type it: relative if the file is below the current folder.
std::string path_from_here(const std::string& file) {
    const std::filesystem::path relative =
        std::filesystem::path(file).lexically_relative(std::filesystem::current_path());
    return relative.empty() || relative.string().starts_with("..") ? file : relative.string();
}

/// Returns the memory component at a byte offset. Each cell of the bar shows the component at the cell's
/// middle, so that rounding does not change the bar's length.
const Component* component_at(const RankMemory& memory, double bytes) {
    double end = 0;
    for (const Component& component : kComponents) {
        end += static_cast<double>(memory.*component.bytes);
        if (bytes < end) return &component;
    }
    return nullptr;
}

class PlanWriter {
  public:
    PlanWriter(const Plan& plan, const Terminal& terminal)
        : plan_(plan), ink_(terminal.ink), width_(terminal.width) {}

    std::string text() {
        verdict();
        mesh();
        context_parallel();
        batch();
        memory();
        time();
        attention();
        nccl();
        keys();
        return out_;
    }

    std::string summary() {
        for (const std::string& part : wrap(verdict_line(plan_, ink_), width_)) out_ += part + "\n";
        mesh();
        batch();
        return out_;
    }

  private:
    int inner() const { return width_ - kLabel; }
    int bar_width() const { return std::min(inner() - 1, kWidestBar); }

    void line(const std::string& label, const std::string& text) {
        out_ += padded(ink_.bold(label), kLabel) + text + "\n";
    }
    void section(const std::string& label, const std::string& text) {
        bool first = true;
        for (const std::string& part : wrap(text, inner())) {
            line(first ? label : "", part);
            first = false;
        }
    }

    void verdict() {
        for (const std::string& part : wrap(verdict_line(plan_, ink_), width_)) out_ += part + "\n";
        if (plan_.verdict != Verdict::Invalid) {
            for (const std::string& part : wrap("Next: " + next_step(), width_))
                out_ += ink_.dim(part) + "\n";
        }
        out_ += "\n";
    }

    std::string next_step() const {
        for (const Diagnostic& said : plan_.diagnostics) {
            const bool about_memory = said.code == "MEM-FIT" || said.code.starts_with("MODEL");
            if (plan_.verdict != Verdict::Fits && about_memory && !said.hint.empty())
                return printable(said.hint);
        }
        return "ringmaster launch " + printable(shell_quoted(path_from_here(plan_.config.file)));
    }

    void mesh() {
        const Mesh& m = plan_.mesh;
        std::string text = ranks_text(plan_) + " = " + mesh_text(m, plan_.zero_stage);
        if (plan_.zero_stage > 0) text += ", states sharded (ZeRO " + std::to_string(plan_.zero_stage) + ")";
        section("Mesh", text);
        const std::optional<ReceivedTokens> received = received_tokens(plan_);
        if (!received) return;
        section("Experts", "expert " + std::to_string(m.expert) + ": " +
                               format_count(plan_.model->num_experts / m.expert) + " of " +
                               format_count(plan_.model->num_experts) + " experts a rank; they receive " +
                               format_count(received->level) + " tokens if the load is even, " +
                               format_count(received->worst) + " at worst");
    }

    void context_parallel() {
        const ContextParallel& cp = plan_.context_parallel;
        std::string sizes;
        for (int size : cp.valid_sizes)
            sizes += (sizes.empty() ? "" : " ") +
                     (size == cp.size ? "[" + std::to_string(size) + "]" : std::to_string(size));
        std::string text = "context_parallel_size " + std::to_string(cp.size);
        if (!sizes.empty()) text += ", valid: " + sizes;
        if (cp.size > 1) {
            text += std::string(" · ") + to_string(cp.layout);
            if (cp.heads_k_stride > 1) text += ", heads_k_stride " + std::to_string(cp.heads_k_stride);
        }
        section("Sequence", text);
        const SequencePlan& s = plan_.sequence;
        text = format_count(s.length) + " tokens";
        if (s.padded_length != s.length) text += ", padded to " + format_count(s.padded_length);
        if (cp.size > 1) text += ", " + format_count(s.per_rank) + " a rank";
        if (s.chunks > 1)
            text += ", " + format_count(s.chunks) + " chunks of " + format_count(s.chunk_tokens());
        section("", text);
        if (cp.size > 1 && cp.size <= kDrawnRanks && plan_.ok()) who_holds_what();
    }

    void who_holds_what() {
        Layout layout;
        try {
            layout = make_layout(cp_layout(), plan_.sequence.padded_length, plan_.mesh.ring,
                                 plan_.mesh.ulysses, {}, plan_.sequence.chunks);
        } catch (const Error&) {
            return;  // token positions depend on each row's documents
        }
        const auto pieces =
            static_cast<int>(2 * layout.ranks.size());  // zigzag and contiguous cuts then fall between cells
        const int width = std::min(inner() - 26, 48) / pieces * pieces;
        if (width == 0) return;
        double work = 0;
        for (const Spans& spans : layout.ranks) work += static_cast<double>(causal_cells(spans));
        work /= static_cast<double>(layout.ranks.size());
        for (size_t rank = 0; rank < layout.ranks.size(); ++rank) {
            const double share = static_cast<double>(causal_cells(layout.ranks[rank])) / work;
            line("", padded("rank " + std::to_string(rank), 7) +
                         ink_.cyan(drawn(layout.ranks[rank], layout.tokens, width)) + "  work " +
                         format_number(std::round(share * 100) / 100, 3) + "×");
        }
    }

    RingAttnFunc cp_layout() const { return plan_.context_parallel.layout; }

    static std::string drawn(const Spans& spans, int64_t tokens, int width) {
        std::string text;
        for (int cell = 0; cell < width; ++cell) {
            const int64_t begin = tokens * cell / width,
                          end = std::max(begin + 1, tokens * (cell + 1) / width);
            int64_t held = 0;
            for (const Span& span : spans) {
                const int64_t first = std::max<int64_t>(0, (begin - span.begin + span.step - 1) / span.step);
                const int64_t last = (std::min(end, span.end) - span.begin + span.step - 1) / span.step;
                if (end > span.begin && span.end > begin) held += std::max<int64_t>(0, last - first);
            }
            const double share = static_cast<double>(held) / static_cast<double>(end - begin);
            text += share > 0.99 ? "█" : share > 0.01 ? "▒" : "·";
        }
        return text;
    }

    void batch() {
        const Batch& b = plan_.batch;
        const int groups = plan_.mesh.data_parallel_size();
        const std::string product = std::to_string(b.micro) + " micro × " + std::to_string(b.accumulation) +
                                    " accumulation × " + std::to_string(groups) +
                                    (groups == 1 ? " group" : " groups");
        std::string text;
        if (b.global != b.global_without_cp) {
            text = ink_.bold(format_count(b.global_without_cp) + " becomes " + format_count(b.global)) +
                   " rows a step: " + product + ", " + std::to_string(plan_.context_parallel.size) +
                   " ranks share each row";
        } else {
            text = format_count(b.global) + (b.global == 1 ? " row a step: " : " rows a step: ") + product;
        }
        section("Batch", text);
        text.clear();
        auto add = [&](const std::optional<int64_t>& count, const char* what) {
            if (count) text += (text.empty() ? "" : " · ") + format_count(*count) + " " + what;
        };
        add(b.tokens_per_step, "tokens a step");
        add(b.steps_per_epoch, "steps an epoch");
        add(b.total_steps, "steps in all");
        if (!text.empty()) section("", text);
    }

    void attention() {
        const char* label = "Attention";
        for (const AttentionUse& it : attention_kernels(plan_)) {
            section(label, it.kernel + ": " + it.use + " (" + it.whole_why() + ")");
            label = "";
        }
    }

    void nccl() {
        const char* label = "NCCL";
        for (const NcclSetting& it : planned_nccl_settings(plan_)) {
            section(label, to_text(it));
            label = "";
        }
    }

    void memory() {
        const RankMemory* worst = fullest(plan_);
        if (worst == nullptr) {
            section("Memory", "unknown: the model's shape is not known here");
            return;
        }
        const int64_t device = plan_.memory->device_bytes;
        std::string text = format_bytes(worst->total);
        if (device > 0) text += " of " + format_bytes(device);
        text += " on rank " + std::to_string(worst->rank) + (plan_.ranks > 1 ? ", the fullest" : "") +
                " (between " + format_bytes(worst->total_low) + " and " + format_bytes(worst->total_high) +
                ")";
        section("Memory", text);
        memory_bar(*worst, device);
        memory_legend(*worst);
        host_memory(*worst);
        disk(*worst);
        largest_tensors();
    }

    void host_memory(const RankMemory& worst) {
        if (worst.host <= 0) return;
        std::string text = "in host memory: " + format_bytes(worst.host) + " a rank, " +
                           format_bytes(plan_.memory->host_bytes);
        if (plan_.memory->host_capacity_bytes > 0)
            text += " of " + format_bytes(plan_.memory->host_capacity_bytes);
        section("", text + " on a node");
    }

    void disk(const RankMemory& worst) {
        if (worst.disk <= 0) return;
        std::string text =
            "on a disk: " + format_bytes(worst.disk) + " a rank, " + format_bytes(plan_.memory->disk_bytes);
        if (plan_.memory->disk_capacity_bytes > 0)
            text += " of " + format_bytes(plan_.memory->disk_capacity_bytes);
        section("", text + " on a node");
    }

    void largest_tensors() {
        std::string text;
        for (const LargeTensor& tensor : ringmaster::largest_tensors(plan_))
            text += (text.empty() ? "at the peak: " : ", ") + tensor.name + " " + format_bytes(tensor.bytes);
        if (!text.empty()) section("", text);
    }

    void memory_bar(const RankMemory& memory, int64_t device) {
        const int width = bar_width();
        const double scale =
            static_cast<double>(std::max({device, memory.total_high, memory.total, int64_t{1}})) / width;
        auto column = [&](int64_t bytes) {
            return std::clamp(static_cast<int>(static_cast<double>(bytes) / scale), 0, width - 1);
        };
        const int edge = device > 0 ? column(device) : -1;
        std::string cells;
        for (int cell = 0; cell < width; ++cell) {
            const Component* component = component_at(memory, (cell + 0.5) * scale);
            if (cell == edge) {
                cells += ink_.bold("┃");
            } else if (component == nullptr) {
                cells += ink_.dim("·");
            } else {
                cells += ink_.on() ? ink_.colour(component->colour, "█") : std::string(1, component->letter);
            }
        }
        line("", cells);
        const int low = column(memory.total_low), high = std::max(low + 1, column(memory.total_high));
        std::vector<std::string> marks(static_cast<size_t>(width), " ");
        if (edge >= 0) marks[static_cast<size_t>(edge)] = "┃";
        for (int at = low; at <= high && at < width; ++at)
            marks[static_cast<size_t>(at)] = at == low ? "├" : at == high ? "┤" : "─";
        std::string whisker;
        for (const std::string& mark : marks) whisker += mark;
        line("", ink_.dim(whisker));
    }

    void memory_legend(const RankMemory& memory) {
        std::string row;
        for (const Component& component : kComponents) {
            if (memory.*component.bytes <= 0) continue;
            const std::string mark =
                ink_.on() ? ink_.colour(component.colour, "█") : std::string(1, component.letter);
            const std::string entry =
                mark + " " + component.name + " " + format_bytes(memory.*component.bytes);
            if (!row.empty() && display_width(row) + 3 + display_width(entry) > inner()) {
                line("", row);
                row.clear();
            }
            row += (row.empty() ? "" : "   ") + entry;
        }
        if (!row.empty()) line("", row);
    }

    void time() {
        if (!plan_.time || plan_.time->step_s <= 0) return;
        const StepTime& t = *plan_.time;
        std::string text = format_duration(t.step_s) + " a step" +
                           (t.measured ? " (measured)" : " (assumed figures)") + ": compute " +
                           format_duration(t.compute_s);
        if (t.comm_s > 0) {
            const bool offload = plan_.ranks == 1;
            text += (offload ? ", copying offloaded data " : ", communication ") + format_duration(t.comm_s) +
                    (offload ? ", waiting for it " : ", exposed ") + format_duration(t.exposed_comm_s) +
                    " (" + format_percent(t.overhead()) + " of the step)";
        }
        section("Time", text);
        const int width = bar_width();
        const int exposed = static_cast<int>(std::lround(std::clamp(t.overhead(), 0.0, 1.0) * width));
        line("", ink_.green(repeated("█", width - exposed)) + ink_.red(repeated("▒", exposed)));
        const std::string legend = ink_.green("█") + " compute";
        line("", exposed > 0 ? legend + "   " + ink_.red("▒") + " " + exposed_name(plan_) : legend);
        if (plan_.batch.total_steps) {
            line("", "about " + format_duration(t.step_s * static_cast<double>(*plan_.batch.total_steps)) +
                         " for " + format_count(*plan_.batch.total_steps) + " steps");
        }
    }

    void keys() {
        if (plan_.keys.no_effect.empty()) return;
        std::string names;
        for (const auto& key : plan_.keys.no_effect)
            names += (names.empty() ? "" : ", ") + printable(key.key);
        section("Keys", "without effect here: " + names);
    }

    const Plan& plan_;
    TextStyle ink_;
    int width_;
    std::string out_;
};

std::string plural(size_t count, const std::string& one) {
    return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string marked(Severity severity, const std::string& text, const TextStyle& ink) {
    switch (severity) {
        case Severity::Error:
            return ink.red(text);
        case Severity::Warning:
            return ink.yellow(text);
        case Severity::Info:
            return ink.blue(text);
    }
    return text;
}

std::string one_diagnostic(const Diagnostic& said, const Terminal& terminal) {
    const TextStyle& ink = terminal.ink;
    std::string head = marked(said.severity, padded(to_string(said.severity), 8), ink) + ink.bold(said.code);
    if (said.line > 0) head += "  line " + std::to_string(said.line);
    if (!said.key.empty()) head += "  " + printable(said.key);
    std::string text = fit(head, terminal.width) + "\n";
    for (const std::string& line : wrap(printable(said.message), terminal.width - 8))
        text += "        " + line + "\n";
    bool first = true;
    for (const std::string& line :
         said.hint.empty() ? std::vector<std::string>() : wrap(printable(said.hint), terminal.width - 10)) {
        text += "        " + ink.cyan((first ? "→ " : "  ") + line) + "\n";
        first = false;
    }
    return text;
}

}  // namespace

std::string verdict_line(const Plan& plan, const TextStyle& ink) {
    const RankMemory* worst = fullest(plan);
    const auto errors =
        static_cast<size_t>(std::count_if(plan.diagnostics.begin(), plan.diagnostics.end(),
                                          [](const Diagnostic& d) { return d.severity == Severity::Error; }));
    const bool known = worst != nullptr && plan.memory->device_bytes > 0;
    const std::string device = known ? format_bytes(plan.memory->device_bytes) : "";
    const std::string room =
        known ? format_bytes(worst->total) + " of " + device + " on the fullest rank" : "";
    std::string exposed;
    if (plan.time && plan.time->step_s > 0 && plan.time->comm_s > 0) {
        exposed = ", " + format_percent(plan.time->overhead()) + " of a step is " + exposed_name(plan);
    }
    switch (plan.verdict) {
        case Verdict::Fits:
            return ink.bold(ink.green("FITS")) + ": " + room + exposed;
        case Verdict::Tight:
            return ink.bold(ink.yellow("TIGHT")) + ": the fullest rank needs " +
                   (known ? format_bytes(worst->total_low) : "?") + " to " +
                   (known ? format_bytes(worst->total_high) : "?") + ", its device has " + device + exposed;
        case Verdict::WillNotFit:
            if (const Diagnostic* lack = node_lacks(plan))
                return ink.bold(ink.red("WILL NOT FIT")) + ": " + lack->message;
            return ink.bold(ink.red("WILL NOT FIT")) + ": the fullest rank needs " +
                   (known ? format_bytes(worst->total) : "?") + ", its device has " + device;
        case Verdict::Invalid:
            return ink.bold(ink.red("INVALID")) + ": " + plural(errors, "problem") +
                   " before it can be launched" + (known && plan.memory->fits ? "; otherwise " + room : "");
        case Verdict::Unknown:
            return ink.bold(ink.yellow("UNKNOWN")) + ": memory and time need the model's shape";
    }
    return "";
}

std::string diagnostics_text(const Diagnostics& diagnostics, const Terminal& terminal, Severity least) {
    Diagnostics sorted = diagnostics;
    std::erase_if(sorted, [least](const Diagnostic& said) { return said.severity < least; });
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return a.severity > b.severity; });
    std::string text;
    for (const Diagnostic& said : sorted) text += one_diagnostic(said, terminal);
    return text;
}

std::string plan_text(const Plan& plan, const Terminal& terminal) {
    if (plan.config.file.empty() && !plan.ok()) return diagnostics_text(plan.diagnostics, terminal);
    const std::string figures = PlanWriter(plan, terminal).text();
    const std::string said = diagnostics_text(plan.diagnostics, terminal);
    return figures + (said.empty() ? "" : "\n" + said);
}

std::string plan_summary(const Plan& plan, const Terminal& terminal) {
    return PlanWriter(plan, terminal).summary() +
           diagnostics_text(plan.diagnostics, terminal, Severity::Warning);
}

std::string mesh_text(const Mesh& mesh, int zero_stage) {
    std::string text;
    const auto factor = [&](const char* name, int size) {
        if (size > 1) text += (text.empty() ? "" : " × ") + std::string(name) + " " + std::to_string(size);
    };
    factor("dp_replicate", mesh.dp_replicate);
    factor(zero_stage > 0 ? "dp_shard" : "data parallel", mesh.dp_shard);
    factor("ring", mesh.ring);
    factor("ulysses", mesh.ulysses);
    return text.empty() ? "no splitting" : text;
}

}  // namespace ringmaster
