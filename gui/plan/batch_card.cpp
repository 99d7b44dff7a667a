#include "gui/plan/batch_card.h"

#include "gui/look/look.h"
#include "gui/look/numbers.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

BatchCard::BatchCard(QWidget* parent)
    : Card(tr("Global batch"), parent),
      m_figure(new QLabel),
      m_why(new QLabel),
      m_sum(mutedLabel()),
      m_keep(new QPushButton) {
    m_figure->setFont(fontOf(Type::Display));
    m_figure->setTextFormat(Qt::RichText);
    m_figure->setObjectName(u"batchFigure"_s);
    m_why->setWordWrap(true);
    m_sum->setWordWrap(true);
    m_keep->setObjectName(u"keepBatchButton"_s);
    m_keep->setToolTip(tr("Changes gradient_accumulation_steps in the text; undo takes it back"));
    auto* top = new QHBoxLayout;
    top->setSpacing(space(0.6));
    top->addWidget(m_figure);
    top->addStretch(1);
    top->addWidget(m_keep);
    body()->addLayout(top);
    body()->addWidget(m_why);
    body()->addWidget(m_sum);
    body()->addStretch(1);
    connect(m_keep, &QPushButton::clicked, this, [this] { Q_EMIT accumulationWanted(m_steps); });
}

void BatchCard::setPlan(const Plan& plan) {
    const Batch& batch = plan.batch;
    const Colours c = coloursOf(this);
    const bool divides = plan.context_parallel.size > 0 && plan.ranks % plan.context_parallel.size == 0;
    const bool divided = divides && batch.global != batch.global_without_cp && batch.global > 0;
    for (QLabel* part : {m_figure, m_why}) part->setVisible(divides);
    m_keep->setVisible(divided);
    if (!divides) return m_sum->setText(tr("Not known until the problems above are solved."));
    const QString now = show::count(batch.global);
    m_figure->setText(divided ? u"<span style='color:%1'>%2 \u2192</span> %3"_s.arg(
                                    c.muted.name(), show::count(batch.global_without_cp), now)
                              : now);
    m_figure->setAccessibleName(tr("Global batch: %1").arg(now));
    if (divided) {
        m_steps = batch.accumulation * batch.global_without_cp / batch.global;
        m_keep->setText(
            tr("Keep %1: accumulate %2").arg(show::count(batch.global_without_cp), show::count(m_steps)));
        m_why->setText(
            tr("%1 becomes %2: %n rank(s) share one sequence.", nullptr, plan.context_parallel.size)
                .arg(show::count(batch.global_without_cp), now));
    } else {
        //: below a figure, the number of the rows
        m_why->setText(tr("row(s) a step", nullptr, int(std::min<int64_t>(batch.global, 1 << 30))));
    }
    QString sum = tr("%1 micro \u00D7 %2 accumulation \u00D7 (%n rank(s) \u00F7 %3)", nullptr, plan.ranks)
                      .arg(show::count(batch.micro), show::count(batch.accumulation),
                           show::count(plan.context_parallel.size));
    const auto add = [&sum](QString part) {  // a line may break only before the dots
        sum += u" \u00B7\u00A0"_s + part.replace(u' ', QChar::Nbsp);
    };
    if (batch.tokens_per_step) add(tr("%1 tokens a step").arg(show::count(*batch.tokens_per_step)));
    if (batch.total_steps) add(tr("%1 steps").arg(show::count(*batch.total_steps)));
    m_sum->setText(sum);
}

}  // namespace ringmaster
