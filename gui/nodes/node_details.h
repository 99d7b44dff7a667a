/// Shows one target: what the check found, what to do next, and all facts that the machine reported.
#pragma once

#include "gui/look/card.h"
#include "gui/nodes/node_checks.h"

class QGridLayout;

namespace ringmaster {

class NodeDetails : public Card {
    Q_OBJECT

  public:
    explicit NodeDetails(NodeChecks& checks, QWidget* parent = nullptr);

    void showRow(int row);  ///< -1: no target
    void tick();            ///< updates the age of the check

  protected:
    void changeEvent(QEvent* event) override;

  private:
    QWidget* makeActions();
    void write();
    void writeFacts(const SavedTarget& entry);

    NodeChecks& m_checks;
    int m_row = -1;
    Banner* m_banner;
    QPushButton *m_check, *m_cancel, *m_install, *m_send, *m_remove, *m_copy;
    QWidget* m_facts;
    QGridLayout* m_grid;
};

}  // namespace ringmaster
