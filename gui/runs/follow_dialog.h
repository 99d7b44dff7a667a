/// Lets the user choose a machine and a run that was launched on it from elsewhere; that run is then
/// followed like any other. Nothing here starts or stops a run.
#pragma once

#include "gui/runs/machine_dialog.h"
#include "launcher/backends/runs_there.h"

class QComboBox;
class QTreeWidget;

namespace ringmaster {

class FollowDialog : public MachineDialog {
    Q_OBJECT

  public:
    explicit FollowDialog(Session& session, QWidget* parent = nullptr);

    void show(const RunsThere& there);  ///< shows the runs that were found

  Q_SIGNALS:
    void followed(const QString& dir);  ///< emitted when the run can be watched here

  protected:
    void reject() override;  ///< cancels work in progress first

  private:
    struct Looked;
    QWidget* makeHost();
    void fillHosts();
    void look();
    void follow();
    void giveUp() override;
    void showState() override;
    std::vector<std::string> hosts() const;
    const RunThere* chosen() const;

    QComboBox* m_host;
    QPushButton* m_look;
    QTreeWidget* m_runs;
    QLabel* m_none = nullptr;          ///< text in the empty list
    std::shared_ptr<Looked> m_looked;  ///< what the machine reported, and the session to it
    RunsThere m_there;
};

}  // namespace ringmaster
