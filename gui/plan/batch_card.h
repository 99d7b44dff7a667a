/// Shows how the global batch changes when ranks share sequences, and offers a button that keeps it.
#pragma once

#include <QLabel>
#include <QPushButton>

#include "engine/plan/plan.h"
#include "gui/look/card.h"

namespace ringmaster {

class BatchCard : public Card {
    Q_OBJECT

  public:
    explicit BatchCard(QWidget* parent = nullptr);
    void setPlan(const Plan& plan);

  Q_SIGNALS:
    void accumulationWanted(qint64 steps);

  private:
    QLabel* m_figure;
    QLabel* m_why;
    QLabel* m_sum;
    QPushButton* m_keep;
    qint64 m_steps = 1;
};

}  // namespace ringmaster
