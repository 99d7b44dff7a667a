#include "gui/nodes/node_checks.h"

#include <QElapsedTimer>
#include <QtConcurrent/QtConcurrentRun>
#include <algorithm>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "gui/session/finding_words.h"
#include "gui/session/on_gui.h"
#include "launcher/backends/needs.h"
#include "launcher/nodes/deep.h"
#include "launcher/nodes/fleet.h"

namespace ringmaster {

namespace {

constexpr int kPatienceMs = 1500;  ///< maximum wait for cancelled checks; a name server may take longer
constexpr int kSaveAfterMs = 300;  ///< joins reports that arrive close together into one write
constexpr int kStepMs = 150;       ///< minimum time between two progress reports

bool isForTrial(const SavedTarget& entry) {
    return entry.target.kind == TargetKind::Ssh && entry.last && entry.last->node.can_train();
}

}  // namespace

NodeChecks::NodeChecks(Session& session, QObject* parent)
    : QObject(parent),
      m_session(session),
      m_file(saved_targets_file(session.places())),
      m_pool(new QThreadPool) {
    for (SavedTarget& entry : read_saved_targets(m_file)) m_rows.push_back({std::move(entry), nullptr});
    m_pool->setMaxThreadCount(kMachinesAtOnce);
    m_saving.setSingleShot(true);
    m_saving.setInterval(kSaveAfterMs);
    connect(&m_saving, &QTimer::timeout, this, &NodeChecks::save);
}

NodeChecks::~NodeChecks() {
    if (m_saving.isActive()) save();
    m_pool->clear();
    for (Row& row : m_rows) {
        if (row.check) *row.check->given_up = true;
    }
    if (m_pool->waitForDone(kPatienceMs)) delete m_pool;  // otherwise running checks still need it
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
    drop(row);
    m_rows.erase(m_rows.begin() + row);
    Q_EMIT removed(row);
    m_saving.start();
    Q_EMIT moved();
}

CheckKind NodeChecks::kind(int row) const {
    const std::shared_ptr<Check>& check = m_rows[size_t(row)].check;
    return check ? check->kind : CheckKind::Look;
}

const ProgressStep& NodeChecks::step(int row) const {
    static const ProgressStep none;
    const std::shared_ptr<Check>& check = m_rows[size_t(row)].check;
    return check ? check->step : none;
}

void NodeChecks::check(int row, CheckKind kind) {
    if (m_rows[size_t(row)].check) return;
    m_asked = underWay() == 0 ? 1 : m_asked + 1;
    const std::shared_ptr<Check> check = begin(row, kind);
    const SshPerson person = m_session.person([up = check->given_up] { return up->load(); });
    work({check},
         [kind, person, target = entry(row).target,
          places = m_session.places()](const Progress& progress) -> std::vector<TargetReport> {
             std::optional<LibTorchWay> way;
             if (kind == CheckKind::InstallLibTorch) way = LibTorchWay::Pip;
             if (kind == CheckKind::SendLibTorch) way = LibTorchWay::Copy;
             return {check_target(target, places, person, remedy_of(way, places, progress))};
         });
    Q_EMIT moved();
}

bool NodeChecks::canTryOut() const {
    return std::any_of(m_rows.begin(), m_rows.end(),
                       [](const Row& row) { return isForTrial(row.entry) && !row.check; });
}

void NodeChecks::tryOut() {
    Checks checks;
    std::vector<SshTarget> targets;
    if (underWay() == 0) m_asked = 0;
    for (int row = 0; row < count(); ++row) {
        if (!isForTrial(entry(row)) || m_rows[size_t(row)].check) continue;
        targets.push_back(parse_target(entry(row).target.host));
        checks.push_back(begin(row, CheckKind::TryOut));
        checks.back()->given_up = checks.front()->given_up;
    }
    if (checks.empty()) return;
    m_asked += int(checks.size());
    const SshPerson person = m_session.person([up = checks.front()->given_up] { return up->load(); });
    work(checks, [person, targets, places = m_session.places()](const Progress& progress) {
        std::vector<TargetReport> found;
        for (NodeReport& report : try_nodes(targets, person, program_needs(places), {}, places, progress))
            found.push_back({std::move(report), {}, unix_now()});
        return found;
    });
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

/// Cancels a row's check without waiting for a result. A trial is cancelled for all of its machines.
void NodeChecks::drop(int row) {
    const std::shared_ptr<Check> check = m_rows[size_t(row)].check;
    if (!check) return;
    *check->given_up = true;
    for (int other = 0; other < count(); ++other) {
        std::shared_ptr<Check>& one = m_rows[size_t(other)].check;
        if (!one || one->given_up != check->given_up) continue;
        one.reset();
        Q_EMIT changed(other);
    }
}

std::shared_ptr<NodeChecks::Check> NodeChecks::begin(int row, CheckKind kind) {
    auto check = std::make_shared<Check>();
    check->kind = kind;
    m_rows[size_t(row)].check = check;
    Q_EMIT changed(row);
    return check;
}

void NodeChecks::started(const Checks& checks) {
    for (const std::shared_ptr<Check>& check : checks) {
        if (const int row = rowOf(check); row >= 0) Q_EMIT changed(row);
    }
}

void NodeChecks::wentOn(const Checks& checks, const ProgressStep& step) {
    for (const std::shared_ptr<Check>& check : checks) {
        check->step = step;
        if (const int row = rowOf(check); row >= 0) Q_EMIT changed(row);
    }
}

/// Removes the checks that ended without a report.
void NodeChecks::ended(const Checks& checks) {
    for (const std::shared_ptr<Check>& check : checks) {
        if (const int row = rowOf(check); row >= 0) drop(row);
    }
    Q_EMIT moved();
}

/// Returns a Progress that reports at most once per kStepMs.
Progress NodeChecks::progressOf(const Checks& checks) {
    Progress progress;
    progress.cancelled = [up = checks.front()->given_up] { return up->load(); };
    auto last = std::make_shared<QElapsedTimer>();
    progress.step = [self = QPointer<NodeChecks>(this), checks, last](const ProgressStep& step) {
        if (last->isValid() && last->elapsed() < kStepMs) return;
        last->start();
        onGui(self, [checks, step](NodeChecks& all) { all.wentOn(checks, step); });
    };
    return progress;
}

void NodeChecks::work(const Checks& checks,
                      const std::function<std::vector<TargetReport>(const Progress&)>& task) {
    const QPointer<NodeChecks> self(this);
    std::ignore = QtConcurrent::run(m_pool, [self, checks, task, progress = progressOf(checks)] {
        if (progress.is_cancelled()) return;
        for (const std::shared_ptr<Check>& check : checks) check->at_work = true;
        onGui(self, [checks](NodeChecks& all) { all.started(checks); });
        std::vector<TargetReport> found;
        try {
            found = task(progress);
        } catch (const Cancelled&) {
            found.clear();
        }
        for (size_t i = 0; i < found.size(); ++i) {
            onGui(self, [check = checks[i], report = found[i]](NodeChecks& all) { all.took(check, report); });
        }
        if (found.empty()) onGui(self, [checks](NodeChecks& all) { all.ended(checks); });
    });
}

void NodeChecks::took(const std::shared_ptr<Check>& check, TargetReport report) {
    const int row = rowOf(check);
    if (row < 0) return;  // cancelled, or the row was removed
    m_rows[size_t(row)].check.reset();
    std::optional<TargetReport>& last = m_rows[size_t(row)].entry.last;
    if (last && !report.node.deep && report.node.can_train()) report.node.deep = last->node.deep;
    last = std::move(report);
    m_saving.start();
    Q_EMIT changed(row);
    Q_EMIT moved();
}

void NodeChecks::save() {
    std::vector<SavedTarget> entries;
    for (const Row& row : m_rows) entries.push_back(row.entry);
    try {
        write_saved_targets(m_file, entries);
    } catch (const Error& problem) {
        Q_EMIT m_session.notice(text_of(problem));
    }
}

}  // namespace ringmaster
