/// Performs actions on runs. Long actions run in the background; at the end they report what they made, or
/// why they failed.
#pragma once

#include <QObject>
#include <QStringList>
#include <functional>

#include "gui/session/session.h"
#include "launcher/run/run_directory.h"

class QWidget;

namespace ringmaster {

class RunActions : public QObject {
    Q_OBJECT

  public:
    RunActions(Session& session, QWidget* window);

    bool isBusy() const { return m_jobs > 0; }

    void resume(const QString& dir, std::optional<int64_t> checkpoint = {});
    void duplicate(const QString& dir);  ///< opens the run's configuration in Plan as an unsaved copy
    void openFolder(const QString& path);
    /// Each of these four functions first asks the user for a file's name, a folder, or a confirmation.
    void askDiagnostics(const QString& dir);
    void askCsv(const QString& dir);
    void askTensorBoard(const QString& dir);
    void askDelete(const QStringList& dirs);

    void saveDiagnostics(const QString& dir, const QString& file);
    void exportCsv(const QString& dir, const QString& file);
    void exportTensorBoard(const QString& dir, const QString& folder);
    void removeRuns(const QStringList& dirs);

  Q_SIGNALS:
    void tryWanted(const QString& dir);
    void done(const QString& what);
    void failed(const QString& why);
    void busyChanged();

  private:
    /// Runs `work`, which returns what it made; emits `done` with it, or `failed` with the error.
    void inBackground(std::function<QString()> work, std::function<void()> then = {});

    Session& m_session;
    QWidget* m_window;
    int m_jobs = 0;
};

/// Returns what a deletion would remove, such as "12 GiB with 3 checkpoints".
QString lossWords(const QStringList& dirs);

}  // namespace ringmaster
