/// Asks where and how a run is to start, before anything is done.
#pragma once

#include <QWidget>
#include <array>

#include "gui/launch/launch_remarks.h"
#include "gui/launch/launch_steps.h"
#include "gui/session/session.h"
#include "launcher/anywhere/saved_targets.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QRadioButton;
class QSpinBox;

namespace ringmaster {

class PreviewPanel;
class SlurmFields;

class LaunchForm : public QWidget {
    Q_OBJECT

  public:
    LaunchForm(Session& session, const Request& request, QWidget* parent = nullptr);

    /// Returns nothing while something is missing or wrong; problem() says what.
    std::optional<LaunchChoice> choice() const;
    QString problem() const;
    /// Returns true if the run can be launched; a Slurm job's script must have been shown first.
    bool isReady() const;
    QString actionText() const;    ///< text of the button that launches
    QString whyNotQueued() const;  ///< says why a run that can be launched cannot be queued; empty if it can
    void keep();                   ///< remembers the choices for next time
    int hiddenHeight() const;      ///< height of the part of the preview that is visible only by scrolling
    std::shared_ptr<RunBackend> takeReached();

  Q_SIGNALS:
    void changed();
    void nodesWanted();  ///< asks for the Nodes page, to name and check machines

  private:
    QWidget* makePlaces();
    QWidget* makeNodes();
    QWidget* makeSwitches();
    void restore();
    int where() const;
    void tell();
    void tellRestarts();
    void tellRemarks();
    void tellWhyNot();
    LaunchChoice read() const;
    QStringList chosenNodes() const;

    Session& m_session;
    LaunchRemarks m_remarks;
    std::vector<SavedTarget> m_roster;
    QRadioButton *m_here, *m_ssh, *m_slurm;
    std::array<QWidget*, 3> m_pages{};  ///< fields of each place; hidden unless the place is chosen
    QListWidget* m_nodes;
    SlurmFields* m_fields;
    QLineEdit* m_name;
    QCheckBox* m_preflight;
    QSpinBox* m_restarts;
    QLabel* m_restarts_words;
    QCheckBox* m_shrink;
    QLabel* m_warnings;
    QLabel* m_problem;
    PreviewPanel* m_preview;
};

}  // namespace ringmaster
