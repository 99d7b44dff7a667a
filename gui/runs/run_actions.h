/// What can be done with a run beside looking at it. Long ones work in the background and say in the end what
/// they made, or why not.
#pragma once

#include <QObject>
#include <QStringList>
#include <functional>

#include "gui/session/session.h"
#include "launcher/run_directory.h"

class QWidget;

namespace ringmaster {

class RunActions : public QObject {
    Q_OBJECT

  public:
    RunActions(Session& session, QWidget* window);

    bool isBusy() const { return m_jobs > 0; }

    void resume(const QString& dir, std::optional<int64_t> checkpoint = {});
    void duplicate(const QString& dir);  ///< its configuration as an unsaved copy in Plan
    void openFolder(const QString& path);
    /// These ask for a file's name first.
    void askDiagnostics(const QString& dir);
    void askCsv(const QString& dir);
    void askTensorBoard(const QString& dir);
    void askDelete(const QStringList& dirs);

    void saveDiagnostics(const QString& dir, const QString& file);
    void exportCsv(const QString& dir, const QString& file);
    void exportTensorBoard(const QString& dir, const QString& folder);
    void removeRuns(const QStringList& dirs);

  Q_SIGNALS:
    void done(const QString& what);
    void failed(const QString& why);
    void busyChanged();

  private:
    /// `work` says what it made; what it throws is said.
    void inBackground(std::function<QString()> work, std::function<void()> then = {});

    Session& m_session;
    QWidget* m_window;
    int m_jobs = 0;
};

/// What a deletion would take away: "12 GiB with 3 checkpoints".
QString lossWords(const QStringList& dirs);

}  // namespace ringmaster
