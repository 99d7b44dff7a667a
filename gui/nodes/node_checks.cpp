#include "gui/nodes/node_checks.h"

#include <QCoreApplication>
#include <QPointer>
#include <QtConcurrent/QtConcurrentRun>

#include "engine/error.h"

namespace ringmaster {

namespace {

constexpr int kAtOnce = 8;         ///< as launcher/nodes has it: an sshd behind one gate takes ten logins
constexpr int kPatienceMs = 1500;  ///< for what is given up; a name server alone may take longer
constexpr int kSaveAfterMs = 300;  ///< reports that come together are written together

}  // namespace

NodeChecks::NodeChecks(Session& session, QObject* parent)
    : QObject(parent), m_session(session), m_file(roster_file(session.places())), m_pool(new QThreadPool) {
    for (RosterEntry& entry : read_roster(m_file)) m_rows.push_back({std::move(entry), nullptr});
    m_pool->setMaxThreadCount(kAtOnce);
    m_saving.setSingleShot(true);
    m_saving.setInterval(kSaveAfterMs);
    connect(&m_saving, &QTimer::timeout, this, &NodeChecks::save);
}

NodeChecks::~NodeChecks() {
    if (m_saving.isActive()) save();
    m_pool->clear();
    for (Row& row : m_rows) {
        if (row.check) row.check->given_up = true;
    }
    if (m_pool->waitForDone(kPatienceMs)) delete m_pool;  // else the last of them ends with the program
}

CheckPhase NodeChecks::phase(int row) const {
    const std::shared_ptr<Check>& check = m_rows[size_t(row)].check;
    return !check ? CheckPhase::Idle : check->at_work ? CheckPhase::Checking : CheckPhase::Waiting;
}

int NodeChecks::rowOf(const Target& target) const {
    for (int row = 0; row < count(); ++row) {
        if (entry(row).target == target) return row;
    }
    return -1;
}

int NodeChecks::rowOf(const std::shared_ptr<Check>& check) const {
    for (int row = 0; row < count(); ++row) {
        if (m_rows[size_t(row)].check == check) return row;
    }
    return -1;
}

int NodeChecks::underWay() const {
    int number = 0;
    for (const Row& row : m_rows) number += row.check != nullptr;
    return number;
}

int NodeChecks::add(const Target& target) {
    const int known = rowOf(target);
    if (known >= 0) return known;
    const int row = count();
    Q_EMIT aboutToAdd(row);
    m_rows.push_back({{target, std::nullopt}, nullptr});
    Q_EMIT added(row);
    m_saving.start();
    check(row);
    return row;
}

void NodeChecks::remove(int row) {
    if (entry(row).target.kind == TargetKind::Here) return;
    Q_EMIT aboutToRemove(row);
    if (m_rows[size_t(row)].check) m_rows[size_t(row)].check->given_up = true;
    m_rows.erase(m_rows.begin() + row);
    Q_EMIT removed(row);
    m_saving.start();
    Q_EMIT moved();
}

void NodeChecks::check(int row) {
    if (m_rows[size_t(row)].check) return;
    m_asked = underWay() == 0 ? 1 : m_asked + 1;
    begin(row);
    Q_EMIT moved();
}

void NodeChecks::checkAll() {
    for (int row = 0; row < count(); ++row) check(row);
}

void NodeChecks::cancel(int row) {
    drop(row);
    Q_EMIT moved();
}

void NodeChecks::cancelAll() {
    for (int row = 0; row < count(); ++row) drop(row);
    Q_EMIT moved();
}

/// What it would have found is not waited for.
void NodeChecks::drop(int row) {
    std::shared_ptr<Check>& check = m_rows[size_t(row)].check;
    if (!check) return;
    check->given_up = true;
    check.reset();
    Q_EMIT changed(row);
}

void NodeChecks::begin(int row) {
    auto check = std::make_shared<Check>();
    m_rows[size_t(row)].check = check;
    Q_EMIT changed(row);
    const QPointer<NodeChecks> self(this);
    const auto on_gui = [self](auto what) {
        if (QCoreApplication* app = QCoreApplication::instance()) {
            QMetaObject::invokeMethod(
                app,
                [self, what] {
                    if (self) what(*self);
                },
                Qt::QueuedConnection);
        }
    };
    const SshPerson person = m_session.person([check] { return check->given_up.load(); });
    std::ignore = QtConcurrent::run(
        m_pool, [check, on_gui, person, target = entry(row).target, places = m_session.places()] {
            if (check->given_up) return;
            check->at_work = true;
            on_gui([check](NodeChecks& checks) {
                if (const int at = checks.rowOf(check); at >= 0) Q_EMIT checks.changed(at);
            });
            TargetReport report = check_target(target, places, person);
            on_gui([check, report](NodeChecks& checks) { checks.took(check, report); });
        });
}

void NodeChecks::took(const std::shared_ptr<Check>& check, TargetReport report) {
    const int row = rowOf(check);
    if (row < 0) return;  // called off, or removed
    m_rows[size_t(row)].check.reset();
    m_rows[size_t(row)].entry.last = std::move(report);
    m_saving.start();
    Q_EMIT changed(row);
    Q_EMIT moved();
}

void NodeChecks::save() {
    std::vector<RosterEntry> entries;
    for (const Row& row : m_rows) entries.push_back(row.entry);
    try {
        write_roster(m_file, entries);
    } catch (const Error& problem) {
        Q_EMIT m_session.notice(QString::fromStdString(problem.text()));
    }
}

}  // namespace ringmaster
