/// Lists every key of the text as used, without effect here, or not supported.
#pragma once

#include <QLabel>
#include <QToolButton>

#include "engine/plan/plan.h"
#include "gui/look/card.h"

namespace ringmaster {

class KeysCard : public Card {
    Q_OBJECT

  public:
    explicit KeysCard(QWidget* parent = nullptr);
    void setPlan(const Plan& plan);

  private:
    struct Section {
        QToolButton* head;
        QLabel* list;
    };
    Section addSection(const QString& name);
    static void write(const Section& section, const QString& title, const QStringList& lines, bool open);

    Section m_used, m_no_effect, m_unsupported;
};

}  // namespace ringmaster
