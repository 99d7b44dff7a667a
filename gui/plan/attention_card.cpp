#include "gui/plan/attention_card.h"

#include <QCoreApplication>

#include "engine/plan/attention_kernels.h"
#include "gui/look/look.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

AttentionCard::AttentionCard(QWidget* parent) : Card(tr("Attention kernels"), parent), m_text(mutedLabel()) {
    m_text->setObjectName(u"attentionKernels"_s);
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    body()->addWidget(m_text);
    body()->addStretch(1);
}

void AttentionCard::setPlan(const Plan& plan) {
    const auto translated = [](const std::string& text) {
        return QCoreApplication::translate("AttentionKernels", text.c_str());
    };
    QStringList lines, more;
    for (const AttentionUse& it : attention_kernels(plan)) {
        //: a kernel, what it computes, and why
        lines << tr("%1: %2 (%3)").arg(translated(it.kernel), translated(it.use), translated(it.why));
        if (!it.more.empty()) more << translated(it.kernel) + u": "_s + translated(it.more);
    }
    if (lines.isEmpty())
        lines << (plan.model ? tr("Not known until the problems above are solved.")
                             : tr("Not known yet: the model's shape is missing."));
    m_text->setText(lines.join(u'\n'));
    m_text->setToolTip(more.join(u'\n'));
}

}  // namespace ringmaster
