/// Shows the first page: three actions, recent files and runs, and what this machine can do. A YAML file or a
/// run's folder can be dropped anywhere on it.
#pragma once

#include "gui/session/page.h"
#include "gui/session/runs_reader.h"
#include "gui/session/session.h"

class QLabel;
class QVBoxLayout;

namespace ringmaster {

class Card;
class MachineCard;
class RecentRunsModel;
class TwoLineList;

class StartPage : public Page {
    Q_OBJECT

  public:
    explicit StartPage(Session& session, QWidget* parent = nullptr);

    bool settled() const override;

    /// Opens a YAML file in Plan and a run's folder in Monitor; reports anything else.
    void openPath(const QString& path);

  protected:
    void appear() override;
    void disappear() override;
    void resizeEvent(QResizeEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;

  private:
    QWidget* makeActions();
    Card* makeRunsCard();
    Card* makeFilesCard();
    void attach();
    void showRuns();
    void showFiles();
    void setDragged(bool dragged);

    Session& m_session;
    RunsReader m_reader;
    RecentRunsModel* m_runs;
    TwoLineList* m_runList;
    QLabel* m_noRuns;
    QLabel* m_noFiles;
    QVBoxLayout* m_files;
    QBoxLayout* m_below = nullptr;  ///< the cards below the actions
    QWidget* m_fileRows = nullptr;
    MachineCard* m_machine;
    QWidget* m_dropSheet;
};

}  // namespace ringmaster
