#include "gui/plan/experts_card.h"

#include "engine/plan/expert_parallel.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/plan/bars.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

ExpertsCard::ExpertsCard(QWidget* parent)
    : Card(tr("Tokens for a rank's experts"), parent), m_bar(new StackedBar), m_legend(new BarLegend) {
    m_bar->setObjectName(u"expertsBar"_s);
    m_bar->setAccessibleName(tr("Tokens that a rank's experts receive"));
    m_legend->setAccessibleName(tr("Legend of the tokens"));
    auto* note =
        mutedLabel(tr("In one layer and micro-batch; a token counts once for each of its experts. At worst, "
                      "all tokens choose "
                      "experts of one rank."));
    note->setWordWrap(true);
    body()->addWidget(m_bar);
    body()->addWidget(m_legend);
    body()->addWidget(note);
    body()->addStretch(1);
}

bool ExpertsCard::setPlan(const Plan& plan) {
    const std::optional<ReceivedTokens> received = received_tokens(plan);
    if (!received) return false;
    const Colours c = coloursOf(this);
    std::vector<BarPart> parts = {
        {tr("if the load is even"), show::count(received->level), double(received->level), c.accent},
        {tr("at worst"), show::count(received->worst), double(received->worst - received->level),
         mixed(c.card, c.warning, 0.45)}};
    m_legend->setParts(parts);
    m_bar->setParts(std::move(parts));
    setSubtitle(tr("%1 of %2 experts a rank")
                    .arg(show::count(plan.model->num_experts / plan.mesh.expert),
                         show::count(plan.model->num_experts)));
    return true;
}

}  // namespace ringmaster
