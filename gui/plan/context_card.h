/// Offers the valid sizes of context parallelism as buttons.
#pragma once

#include <QButtonGroup>
#include <QLabel>

#include "engine/plan/plan.h"
#include "gui/look/card.h"

namespace ringmaster {

class FlowLayout;

class ContextCard : public Card {
    Q_OBJECT

  public:
    explicit ContextCard(QWidget* parent = nullptr);
    void setPlan(const Plan& plan);

  Q_SIGNALS:
    void sizeWanted(int size);

  private:
    QWidget* m_box;
    FlowLayout* m_sizes;
    QButtonGroup* m_group;
    QLabel* m_text;
    std::vector<int> m_shown;
};

}  // namespace ringmaster
