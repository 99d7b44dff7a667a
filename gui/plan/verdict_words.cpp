#include "gui/plan/verdict_words.h"

#include <QCoreApplication>
#include <algorithm>

#include "engine/plan/node_fit.h"
#include "gui/look/numbers.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(PlanVerdict)
};

const Diagnostic* first_of(const Plan& plan, Severity severity) {
    const auto found = std::find_if(plan.diagnostics.begin(), plan.diagnostics.end(),
                                    [&](const Diagnostic& said) { return said.severity == severity; });
    return found == plan.diagnostics.end() ? nullptr : &*found;
}

const Diagnostic* said(const Plan& plan, std::string_view code) {
    const auto found = std::find_if(plan.diagnostics.begin(), plan.diagnostics.end(),
                                    [&](const Diagnostic& one) { return one.code == code; });
    return found == plan.diagnostics.end() ? nullptr : &*found;
}

QString memory_words(const Plan& plan) {
    const RankMemory* rank = fullest_rank(plan);
    if (!rank || plan.memory->device_bytes <= 0) return {};
    return Words::tr("%1 of %2 on the fullest rank")
        .arg(show::bytes(rank->total), show::bytes(plan.memory->device_bytes));
}

QString time_words(const Plan& plan) {
    if (!plan.time || plan.time->step_s <= 0) return {};
    QStringList words;
    const QString exposed = show::percent(plan.time->overhead());
    if (plan.ranks > 1)
        words << Words::tr("%1 exposed communication").arg(exposed);
    else if (plan.time->exposed_comm_s > 0)
        words << Words::tr("%1 waiting for offloaded data").arg(exposed);
    if (plan.batch.total_steps)
        words << Words::tr("about %1 in all")
                     .arg(show::duration(plan.time->step_s * double(*plan.batch.total_steps)));
    return show::listed(words);
}

/// Returns a remark if a step takes longer than a user would wait for; otherwise an empty string.
QString slow_words(const Plan& plan) {
    constexpr double kSlowStep_s = 600;
    if (!plan.time || plan.time->step_s < kSlowStep_s) return {};
    return Words::tr("One step takes %1: use more GPUs, a smaller model or a shorter sequence.")
        .arg(show::duration(plan.time->step_s));
}

QString joined(const QStringList& parts) {
    const QString words = show::listed(parts);
    return words.isEmpty() ? QString() : show::sentence(words);
}

VerdictWords invalid_words(const Plan& plan) {
    const auto errors = std::count_if(plan.diagnostics.begin(), plan.diagnostics.end(),
                                      [](const Diagnostic& one) { return one.severity == Severity::Error; });
    const Diagnostic* first = first_of(plan, Severity::Error);
    VerdictWords words{Tone::Error, Words::tr("INVALID"), {}, {}};
    words.why = Words::tr("%n problem(s) before it can launch.", nullptr, int(errors));
    if (first) {
        const QString message = message_of(*first);
        words.why = show::sentences(
            {words.why, first->line > 0 ? Words::tr("Line %1: %2").arg(first->line).arg(message) : message});
        words.next = hint_of(*first);
    }
    return words;
}

}  // namespace

const RankMemory* fullest_rank(const Plan& plan) {
    if (!plan.memory || plan.memory->per_rank.empty()) return nullptr;
    const auto& ranks = plan.memory->per_rank;
    return &*std::max_element(ranks.begin(), ranks.end(),
                              [](const RankMemory& a, const RankMemory& b) { return a.total < b.total; });
}

QString ranks_words(const Plan& plan) {
    return plan.device == Device::Cuda ? Words::tr("%n GPU(s)", nullptr, plan.ranks)
                                       : Words::tr("%n CPU rank(s)", nullptr, plan.ranks);
}

VerdictWords verdict_words(const Plan& plan, bool machine_known) {
    if (plan.verdict == Verdict::Invalid) return invalid_words(plan);
    const Diagnostic* fit = said(plan, "MEM-FIT");
    const QString next = fit ? hint_of(*fit) : QString();
    switch (plan.verdict) {
        case Verdict::Fits:
            return {slow_words(plan).isEmpty() ? Tone::Good : Tone::Warning, Words::tr("FITS"),
                    joined({memory_words(plan), time_words(plan)}), slow_words(plan)};
        case Verdict::Tight:
            return {Tone::Warning, Words::tr("TIGHT"), joined({memory_words(plan), time_words(plan)}), next};
        case Verdict::WillNotFit:
            if (const Diagnostic* lack = node_lacks(plan))
                return {Tone::Error, Words::tr("WILL NOT FIT"), message_of(*lack), hint_of(*lack)};
            return {Tone::Error, Words::tr("WILL NOT FIT"), joined({memory_words(plan)}), next};
        case Verdict::Unknown:
        case Verdict::Invalid:
            break;
    }
    if (!machine_known)
        return {Tone::Plain, Words::tr("UNKNOWN"), Words::tr("This machine is still being asked."), {}};
    const Diagnostic* unknown = said(plan, "MODEL-UNKNOWN");
    if (!unknown) unknown = said(plan, "MEM-DEVICE");
    return {Tone::Plain, Words::tr("UNKNOWN"),
            unknown ? message_of(*unknown) : Words::tr("Memory and time are not known."),
            unknown ? hint_of(*unknown) : QString()};
}

QString gains_words(const Alternative& plan, const Plan& present) {
    QStringList parts;
    for (const Gain gain : plan.gains) {
        switch (gain) {
            case Gain::Present:
                parts << Words::tr("as the file stands");
                break;
            case Gain::Fits:
                parts << Words::tr("fits where the present plan does not");
                break;
            case Gain::Recomputes:
                parts << Words::tr("layers are computed again in the backward: less memory");
                break;
            case Gain::KeepsActivations:
                parts << Words::tr("activations are kept: nothing is computed twice");
                break;
            case Gain::TilesMlp:
                parts << Words::tr("MLPs go in tiles of tokens: less memory");
                break;
            case Gain::WholeMlp:
                parts << Words::tr("MLPs are computed whole: nothing of them twice");
                break;
            case Gain::KeepsAttention:
                parts << Words::tr("attention's output is kept: only the rest of a layer is computed again");
                break;
            case Gain::RecomputesAttention:
                parts << Words::tr("attention is computed again too: less memory");
                break;
            case Gain::Offloads:
                parts << Words::tr("activations wait in host memory: less of the device's");
                break;
            case Gain::StaysOnDevice:
                parts << Words::tr("activations stay on the device: nothing is copied");
                break;
            case Gain::SharesStates:
                parts << Words::tr("states are shared by %n rank(s) (ZeRO %1): less memory", nullptr,
                                   plan.mesh.shards())
                             .arg(plan.zero_stage);
                break;
            case Gain::WholeStates:
                parts << (plan.zero_stage == 0
                              ? Words::tr("every rank holds all states: nothing is gathered")
                              : Words::tr("every rank holds all weights: they are gathered once a step"));
                break;
            case Gain::EvenWork:
                parts << Words::tr("every rank has the same attention work");
                break;
            case Gain::FewerShare:
                parts << Words::tr("%n rank(s) share a sequence instead of %1: less is exchanged", nullptr,
                                   plan.mesh.context_parallel_size())
                             .arg(present.context_parallel.size);
                break;
            case Gain::MoreShare:
                parts << Words::tr("%n rank(s) share a sequence: %1 tokens on each", nullptr,
                                   plan.mesh.context_parallel_size())
                             .arg(show::count(plan.tokens_of_rank));
                break;
            case Gain::SplitsHeads:
                parts << (plan.mesh.ulysses == 1
                              ? Words::tr("keys and values go round one ring, heads are not split")
                              : Words::tr("%n rank(s) split the heads by all-to-all: fewer hops in a ring",
                                          nullptr, plan.mesh.ulysses));
                break;
            case Gain::BatchChanges:
                parts << Words::tr("the global batch becomes %1").arg(show::count(plan.global_batch));
                break;
        }
    }
    return show::begun(parts.isEmpty() ? Words::tr("another layout or micro-batch") : show::clauses(parts));
}

}  // namespace ringmaster
