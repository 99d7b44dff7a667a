#include "gui/plan/kept_batch.h"

#include <algorithm>

namespace ringmaster {

namespace {

constexpr int64_t kMostRows = int64_t{1} << 40;  ///< maximum rows per step, so that no product overflows

bool is_note(const Diagnostic& said) {
    return said.code == "BATCH-DIVIDED";
}

void rewrite(Diagnostic& note, const Plan& plan) {
    const Batch& batch = plan.batch;
    note = finding(note.severity, Form("BATCH-DIVIDED"), note.key, note.line,
                   {{"without", batch.global_without_cp},
                    {"global", batch.global},
                    {"size", int64_t{plan.context_parallel.size}},
                    {"accumulation", batch.accumulation * batch.global_without_cp / batch.global}});
}

}  // namespace

void KeptBatch::applyTo(Plan& plan) {
    Batch& batch = plan.batch;
    if (batch.global <= 0 || batch.global > kMostRows || batch.accumulation > kMostRows) return;
    if (!m_opened) m_opened = {batch.micro * batch.accumulation, plan.context_parallel.size};
    const int64_t wanted = m_opened->rows * std::max(1, plan.ranks / m_opened->context_parallel_size);
    const bool can_be_kept = wanted > batch.global && wanted < kMostRows && batch.accumulation < (1 << 20) &&
                             batch.accumulation * wanted % batch.global == 0;
    batch.global_without_cp = can_be_kept ? wanted : batch.global;
    if (!can_be_kept) std::erase_if(plan.diagnostics, is_note);
    for (Diagnostic& said : plan.diagnostics)
        if (is_note(said)) rewrite(said, plan);
}

}  // namespace ringmaster
