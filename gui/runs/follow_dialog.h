/// A run that another machine launched: which machine it is on, which of the runs there, and from then on it
/// is followed like any. Nothing here starts or stops anything.
#pragma once

#include "gui/runs/machine_dialog.h"
#include "launcher/anywhere/runs_there.h"

class QComboBox;
class QTreeWidget;

namespace ringmaster {

class FollowDialog : public MachineDialog {
    Q_OBJECT

  public:
    explicit FollowDialog(Session& session, QWidget* parent = nullptr);

    void show(const RunsThere& there);  ///< what was found

  Q_SIGNALS:
    void followed(const QString& dir);  ///< it is here now

  protected:
    void reject() override;  ///< what is under way first

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
    std::shared_ptr<Looked> m_looked;  ///< with the session that it was asked through
    RunsThere m_there;
};

}  // namespace ringmaster
