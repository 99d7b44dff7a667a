/// Shows where runs can go: this machine, machines over SSH, and Slurm clusters, each with its last check.
#pragma once

#include <QTimer>

#include "gui/nodes/node_checks.h"
#include "gui/session/page.h"

class QProgressBar;
class QPushButton;
class QSplitter;
class QTableView;

namespace ringmaster {

class AddTarget;
class NodeDetails;
class NodesModel;
class PageHeader;

class NodesPage : public Page {
    Q_OBJECT

  public:
    explicit NodesPage(Session& session, QWidget* parent = nullptr);

    bool settled() const override;
    NodeChecks& checks() { return *m_checks; }

  private:
    void appear() override;
    void disappear() override;
    void recolour() override;
    void resizeEvent(QResizeEvent* event) override;
    void setUpTable();
    void makeHeader();
    void connectAll();
    struct Widths {
        int whole, least;
    };
    Widths widthsOf(int column);
    void fitColumns();
    void shareRoom();
    void showProgress();
    int chosenRow() const;
    int firstToLookAt() const;

    Session& m_session;
    NodeChecks* m_checks;
    NodesModel* m_model;
    PageHeader* m_header;
    QPushButton *m_all, *m_try, *m_cancel;
    QProgressBar* m_progress;
    AddTarget* m_add;
    QTableView* m_table;
    NodeDetails* m_details;
    QSplitter* m_splitter;
    QTimer m_clock;
};

}  // namespace ringmaster
