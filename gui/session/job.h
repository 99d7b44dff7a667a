/// Runs one long task on its own thread, and reports its progress and its end on the GUI
/// thread.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <atomic>
#include <functional>
#include <memory>

#include "engine/config/diagnostic.h"
#include "launcher/base/progress.h"
#include "launcher/ssh/finding.h"

namespace ringmaster {

/// Describes why a machine cannot be used.
struct MachineFailure {
    QString host, what, next;  ///< English
    NodeFinding finding = {};  ///< the failure as a finding; empty if another program wrote the text
};

/// Describes to a user how a job failed (gui/session/failure_words.h).
struct JobFailure {
    QString what, where, hint;
    Diagnostics diagnostics;                    ///< diagnostics of a refused plan; otherwise empty
    std::vector<MachineFailure> machines = {};  ///< machines that cannot be used; otherwise empty
};

class Job : public QObject {
    Q_OBJECT

  public:
    /// Holds functions that the work may call while it runs: `phase`, and those in Progress.
    struct Reporter {
        std::function<void(int)> phase;
        Progress progress;
    };
    /// Does the work and returns what `finished` passes on, such as a run's directory.
    using Work = std::function<QString(const Reporter&)>;

    explicit Job(Work work, QObject* parent = nullptr);
    ~Job() override;  ///< cancels the work without waiting for its thread to end

    void start();
    void cancel() { m_cancelled->store(true); }

  Q_SIGNALS:
    void phaseReached(int phase);
    void progressed(const QString& name, qint64 done, qint64 total, bool is_bytes);
    void warned(const QString& text);
    // The job emits exactly one of these three signals, once.
    void finished(const QString& result);
    void failed(const ringmaster::JobFailure& failure);
    void cancelled();

  private:
    Work m_work;
    std::shared_ptr<std::atomic<bool>> m_cancelled;
};

}  // namespace ringmaster

Q_DECLARE_METATYPE(ringmaster::JobFailure)
