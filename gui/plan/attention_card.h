/// Shows which kernels compute the attention, and why.
#pragma once

#include <QLabel>

#include "engine/plan/plan.h"
#include "gui/look/card.h"

namespace ringmaster {

class AttentionCard : public Card {
    Q_OBJECT

  public:
    explicit AttentionCard(QWidget* parent = nullptr);
    /// Shows the plan's kernels; shows nothing if the plan names none.
    void setPlan(const Plan& plan);

  private:
    QLabel* m_text;
};

}  // namespace ringmaster
