/// Lists other meshes and options, best first, each with a button that writes it into the text.
#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <memory>

#include "engine/plan/resolve/advise.h"
#include "gui/look/card.h"

namespace ringmaster {

class AdviceCard : public Card {
    Q_OBJECT

  public:
    explicit AdviceCard(QWidget* parent = nullptr);

    void setAdvice(const Advice& advice, const Plan& present);
    void setPending();  ///< marks the advice as belonging to an earlier text

  Q_SIGNALS:
    void settingsWanted(const std::vector<std::pair<std::string, std::string>>& set);

  private:
    void addRow(const Alternative& plan, const Plan& present, int row);
    void write();

    Advice m_advice;
    Plan m_present;
    bool m_all = false;
    QWidget* m_rows = nullptr;
    QLabel* m_none;
    QPushButton* m_more;
};

}  // namespace ringmaster
