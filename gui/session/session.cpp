#include "gui/session/session.h"

#include <QFile>
#include <QFileInfo>
#include <QFutureWatcher>
#include <QStandardPaths>
#include <QtConcurrent/QtConcurrentRun>

#include "gui/look/wheel_guard.h"
#include "gui/session/run_keeper.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kRecentFiles = 12;

}  // namespace

Session::Session(const Places& places, QObject* parent)
    : QObject(parent), m_places(places), m_keeper(new RunKeeper(*this)) {
    WheelGuard::install();
    askMachine();
}

Session::~Session() {
    delete m_keeper;  // deleted first because it uses this session
}

SshPerson Session::person(std::function<bool()> given_up) const {
    if (m_people) return m_people(std::move(given_up));
    return {{}, {}, std::move(given_up)};
}

void Session::askMachine() {
    auto* watcher = new QFutureWatcher<Machine>(this);
    connect(watcher, &QFutureWatcher<Machine>::finished, this, [this, watcher] {
        m_machine = watcher->result();
        watcher->deleteLater();
        Q_EMIT machineKnown();
    });
    watcher->setFuture(QtConcurrent::run([] { return this_machine(); }));
}

QStringList Session::recentFiles() const {
    QStringList files = m_settings.value(u"recentFiles"_s).toStringList();
    files.removeIf([](const QString& file) { return !QFileInfo(file).isFile(); });
    return files;
}

void Session::addRecentFile(const QString& file) {
    QStringList files = m_settings.value(u"recentFiles"_s).toStringList();
    const QString path = QFileInfo(file).absoluteFilePath();
    files.removeAll(path);
    files.prepend(path);
    m_settings.setValue(u"recentFiles"_s, QStringList(files.mid(0, kRecentFiles)));
    Q_EMIT recentFilesChanged();
}

}  // namespace ringmaster
