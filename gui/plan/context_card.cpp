#include "gui/plan/context_card.h"

#include <QPushButton>

#include "gui/look/flow_layout.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/plan/verdict_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

ContextCard::ContextCard(QWidget* parent)
    : Card(tr("Context parallel size"), parent),
      m_box(new QWidget),
      m_sizes(new FlowLayout(space(0.4), m_box)),
      m_group(new QButtonGroup(this)),
      m_text(mutedLabel()) {
    m_group->setExclusive(false);
    m_text->setWordWrap(true);
    body()->addWidget(m_box);
    body()->addWidget(m_text);
    body()->addStretch(1);
    connect(m_group, &QButtonGroup::idClicked, this, [this](int size) { Q_EMIT sizeWanted(size); });
}

void ContextCard::setPlan(const Plan& plan) {
    const ContextParallel& context = plan.context_parallel;
    std::vector<int> sizes = {1};
    sizes.insert(sizes.end(), context.valid_sizes.begin(), context.valid_sizes.end());
    if (sizes != m_shown) {
        m_shown = sizes;
        while (QLayoutItem* item = m_sizes->takeAt(0)) {
            item->widget()->deleteLater();
            delete item;
        }
        for (const int size : sizes) {
            auto* button = new QPushButton(QString::number(size));
            button->setCheckable(true);
            button->setObjectName(u"contextSize-%1"_s.arg(size));
            button->setAccessibleName(tr("Context parallel size %1").arg(size));
            button->setToolTip(tr("%n rank(s) share one sequence", nullptr, size));
            m_group->addButton(button, size);
            m_sizes->addWidget(button);
        }
    }
    for (QAbstractButton* button : m_group->buttons())
        button->setChecked(m_group->id(button) == context.size);
    setSubtitle(ranks_words(plan));
    const SequencePlan& sequence = plan.sequence;
    QString shares;
    if (sequence.per_rank > 0 && context.size > 1) {
        shares = tr("%n rank(s) share one sequence of %1 tokens: %2 each.", nullptr, context.size)
                     .arg(show::count(sequence.padded_length), show::count(sequence.per_rank));
    } else if (sequence.per_rank > 0) {
        const QString tokens = show::count(sequence.padded_length);
        shares = plan.ranks > 1 ? tr("Every rank holds whole sequences of %1 tokens.").arg(tokens)
                                : tr("One rank holds whole sequences of %1 tokens.").arg(tokens);
    }
    //: the size is that of context parallelism, %1 the number of ranks
    const QString divisors =
        plan.ranks > 1 ? tr("The size has to divide %1.").arg(show::count(plan.ranks)) : QString();
    m_text->setText(show::sentences({shares, divisors}));
}

}  // namespace ringmaster
