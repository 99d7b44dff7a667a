/// Fetches the final model or a checkpoint of a run on other machines, and verifies it by its hash.
#pragma once

#include "gui/runs/machine_dialog.h"
#include "launcher/backends/run_results.h"

class QListWidget;

namespace ringmaster {

class FetchDialog : public MachineDialog {
    Q_OBJECT

  public:
    FetchDialog(Session& session, const QString& dir, QWidget* parent = nullptr);

    void ask();                          ///< asks the machine what can be fetched
    void show(const FetchOffer& offer);  ///< shows what the machine offers

  Q_SIGNALS:
    void fetched(const QString& path);

  private:
    struct There;
    void fetch();
    void giveUp() override;
    void showFailure(const JobFailure& failure) override;
    void showState() override;

    RunDirectory m_run;
    QListWidget* m_offer;
    std::shared_ptr<There> m_there;
};

}  // namespace ringmaster
