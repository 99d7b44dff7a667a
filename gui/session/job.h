/// One long piece of work on a thread of its own, which says on the GUI thread how far it is and how it
/// ended.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <atomic>
#include <functional>
#include <memory>

#include "engine/config/diagnostic.h"
#include "launcher/progress.h"
#include "launcher/ssh/finding.h"

namespace ringmaster {

/// How a job failed, as a person reads it.
struct JobFailure {
    QString what, where, hint;
    Diagnostics diagnostics;   ///< of a plan that was refused; else empty
    NodeFinding finding = {};  ///< about a machine; else empty
};

class Job : public QObject {
    Q_OBJECT

  public:
    /// What the work may call while it runs: `phase` and what Progress has.
    struct Reporter {
        std::function<void(int)> phase;
        Progress progress;
    };
    /// Returns what `finished` brings (a run's directory, say).
    using Work = std::function<QString(const Reporter&)>;

    explicit Job(Work work, QObject* parent = nullptr);
    ~Job() override;  ///< cancels, and does not wait: the work ends by itself

    void start();
    void cancel() { m_cancelled->store(true); }

  Q_SIGNALS:
    void phaseReached(int phase);
    void progressed(const QString& name, qint64 done, qint64 total, bool is_bytes);
    void warned(const QString& text);
    // Exactly one of these, once.
    void finished(const QString& result);
    void failed(const ringmaster::JobFailure& failure);
    void cancelled();

  private:
    Work m_work;
    std::shared_ptr<std::atomic<bool>> m_cancelled;
};

}  // namespace ringmaster

Q_DECLARE_METATYPE(ringmaster::JobFailure)
