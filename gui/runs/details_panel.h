/// Shows one run: figures, estimate and measurement, notes, checkpoints, configuration, files.
#pragma once

#include <QFutureWatcher>
#include <QWidget>

#include "gui/look/card.h"
#include "gui/runs/run_actions.h"
#include "launcher/history/run_details.h"

class QMenu;
class QPlainTextEdit;
class QTabWidget;
class QToolButton;
class QTreeWidget;

namespace ringmaster {

class EstimateBars;
class Plot;
class NotesEditor;

class DetailsPanel : public Card {
    Q_OBJECT

  public:
    DetailsPanel(Session& session, RunActions& actions, QWidget* parent = nullptr);

    void showRun(const RunRow& row);  ///< loads the run's details in the background
    void showNothing();
    QString dir() const { return m_dir; }
    bool settled() const { return !m_reading; }
    void saveNotes();

  private:
    QWidget* makeHead();
    QMenu* makeMore();
    QWidget* makeSummary();
    QWidget* makeCheckpoints();
    void fillSummary(const RunRow& row);
    void readDetails();
    void take();
    void fillCheckpoints();
    void fillFiles();
    void resumeFromChosen();

    Session& m_session;
    RunActions& m_actions;
    QString m_dir;
    RunRow m_row;
    RunDetails m_details;
    QFutureWatcher<RunDetails> m_watcher;
    bool m_reading = false;
    bool m_again = false;

    QLabel* m_mark;
    ElidedLabel* m_name;
    QLabel* m_state;
    Banner* m_banner;
    QPushButton* m_open;
    QPushButton* m_resume;
    QPushButton* m_duplicate;
    QToolButton* m_more;
    QTabWidget* m_tabs;
    std::vector<Figure*> m_figures;
    QLabel* m_facts;
    EstimateBars* m_bars;
    Plot* m_loss;
    NotesEditor* m_notes;
    QTreeWidget* m_checkpoints;
    QLabel* m_noCheckpoints;
    QPushButton* m_resumeHere;
    QPlainTextEdit* m_config;
    QTreeWidget* m_files;
};

}  // namespace ringmaster
