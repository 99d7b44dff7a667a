/// Shows how many tokens a rank's experts receive if experts are divided among ranks.
#pragma once

#include "engine/plan/plan.h"
#include "gui/look/card.h"

namespace ringmaster {

class BarLegend;
class StackedBar;

class ExpertsCard : public Card {
    Q_OBJECT

  public:
    explicit ExpertsCard(QWidget* parent = nullptr);
    /// Returns false if the plan divides no experts, and there is nothing to show.
    bool setPlan(const Plan& plan);

  private:
    StackedBar* m_bar;
    BarLegend* m_legend;
};

}  // namespace ringmaster
