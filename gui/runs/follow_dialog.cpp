#include "gui/runs/follow_dialog.h"

#include <QComboBox>
#include <QCompleter>
#include <QHeaderView>
#include <QLineEdit>
#include <QRegularExpression>
#include <QTreeWidget>
#include <algorithm>

#include "engine/error.h"
#include "gui/look/empty_note.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/run_mark.h"
#include "gui/session/reason_words.h"
#include "gui/session/run_keeper.h"
#include "launcher/anywhere/adopt.h"
#include "launcher/anywhere/saved_targets.h"
#include "launcher/backends/backend.h"
#include "launcher/ssh/aliases.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

enum Column { kName, kState, kStarted, kStep, kColumns };

QString stepWords(const RunSummary& run) {
    if (!run.step) return show::unknown();
    return show::progress(*run.step, run.total_steps);
}

/// Returns the reason why there is no run to choose.
QString nothingWords(const RunsThere& there) {
    const QString host = QString::fromStdString(there.host);
    if (!there.has_ringmaster)
        return FollowDialog::tr("Nothing of Ringmaster is on %1: no run was ever launched there.").arg(host);
    if (there.own > 0)
        return FollowDialog::tr(
                   "No run was launched on %1 over SSH. Those that were started on the machine itself are "
                   "watched there.")
            .arg(host);
    return FollowDialog::tr("There is no run on %1.").arg(host);
}

}  // namespace

/// Holds what the first look at the machine found, and its session, which later jobs use again.
struct FollowDialog::Looked {
    std::unique_ptr<SshSession> session;
    RunsThere there;
    Adopted adopted;
};

FollowDialog::FollowDialog(Session& session, QWidget* parent)
    : MachineDialog(session, tr("Follow a run on another machine"),
                    tr("You can follow any run that was launched over SSH, from whatever machine. "
                       "Following it starts and stops nothing. You can stop it, resume it and fetch its "
                       "model from here, like a run of your own."),
                    tr("Follow"), parent),
      m_host(new QComboBox),
      m_look(new QPushButton(tr("Show its runs"))),
      m_runs(new QTreeWidget) {
    setObjectName(u"followDialog"_s);
    m_runs->setObjectName(u"runsThere"_s);
    m_runs->setAccessibleName(tr("Runs on that machine"));
    m_runs->setHeaderLabels({tr("Run"), tr("State"), tr("Started"), tr("Last step")});
    m_runs->setRootIsDecorated(false);
    m_runs->setUniformRowHeights(true);
    m_runs->setAllColumnsShowFocus(true);
    m_runs->headerItem()->setTextAlignment(kStep, Qt::AlignRight | Qt::AlignVCenter);
    m_runs->header()->setStretchLastSection(false);
    m_runs->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_runs->header()->setSectionResizeMode(kName, QHeaderView::Stretch);
    m_runs->setMinimumHeight(space(9));
    const QFontMetrics metrics(m_runs->font());
    int state = 0;
    for (int mark = 0; mark <= int(RunMark::Damaged); ++mark)
        state = std::max(state, metrics.horizontalAdvance(runWord(RunMark(mark))));
    const int height = m_runs->header()->sizeHint().height();
    m_runs->headerItem()->setSizeHint(kState, {state + space(2.4), height});
    m_runs->headerItem()->setSizeHint(kStarted,
                                      {metrics.horizontalAdvance(show::time(1.7e9)) + space(1), height});
    m_none = sayIfEmpty(m_runs, tr("Not read yet."));
    m_go->setObjectName(u"followButton"_s);
    fill({makeHost(), m_banner, m_runs});
    m_host->setFocus();
    connect(m_look, &QPushButton::clicked, this, &FollowDialog::look);
    connect(m_host->lineEdit(), &QLineEdit::returnPressed, this, &FollowDialog::look);
    connect(m_host, &QComboBox::currentTextChanged, this, [this] {
        m_banner->hide();
        m_looked.reset();  // belongs to another machine
        show(RunsThere());
    });
    connect(m_runs, &QTreeWidget::itemSelectionChanged, this, &FollowDialog::showState);
    connect(m_runs, &QTreeWidget::itemActivated, this, &FollowDialog::follow);
    connect(m_go, &QPushButton::clicked, this, &FollowDialog::follow);
    setMinimumWidth(space(38));
    resize(space(46), space(30));
    showState();
}

QWidget* FollowDialog::makeHost() {
    m_host->setObjectName(u"followHost"_s);
    m_host->setEditable(true);
    m_host->setInsertPolicy(QComboBox::NoInsert);
    m_host->setAccessibleName(tr("Machine that the run is on"));
    m_host->setToolTip(
        tr("A host of ~/.ssh/config, or [user@]host[:port]: one of the run's nodes, or all of them in their "
           "order with commas between them. Those alone are contacted."));
    m_host->lineEdit()->setPlaceholderText(tr("[user@]host[:port]"));
    m_host->completer()->setCompletionMode(QCompleter::PopupCompletion);
    m_host->completer()->setFilterMode(Qt::MatchContains);
    m_look->setObjectName(u"lookThereButton"_s);
    m_look->setAutoDefault(false);
    fillHosts();
    auto* label = new QLabel(tr("Machine"));
    label->setBuddy(m_host);
    auto* box = new QWidget;
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(space(0.6));
    row->addWidget(label);
    row->addWidget(m_host, 1);
    row->addWidget(m_look);
    return box;
}

/// Fills in the hosts of the Nodes page, then those of ~/.ssh/config.
void FollowDialog::fillHosts() {
    QStringList names;
    for (const SavedTarget& entry : read_saved_targets(saved_targets_file(m_session.places()))) {
        if (entry.target.kind == TargetKind::Ssh) names << QString::fromStdString(entry.target.host);
    }
    for (const std::string& alias : ssh_aliases()) names << QString::fromStdString(alias);
    names.removeDuplicates();
    m_host->addItems(names);
    m_host->setCurrentIndex(-1);
    m_host->setEditText(m_session.settings().value(u"follow/host"_s).toString());
}

std::vector<std::string> FollowDialog::hosts() const {
    std::vector<std::string> names;
    static const QRegularExpression between(u"[,\\s]+"_s);
    for (const QString& name : m_host->currentText().split(between, Qt::SkipEmptyParts))
        names.push_back(name.toStdString());
    return names;
}

const RunThere* FollowDialog::chosen() const {
    const auto items = m_runs->selectedItems();
    const int row = items.isEmpty() ? -1 : m_runs->indexOfTopLevelItem(items.first());
    return row < 0 || size_t(row) >= m_there.runs.size() ? nullptr : &m_there.runs[size_t(row)];
}

void FollowDialog::giveUp() {
    MachineDialog::giveUp();
    m_looked.reset();
}

void FollowDialog::look() {
    const std::vector<std::string> named = hosts();
    if (isBusy() || named.empty()) return;
    startOver();
    show(RunsThere());
    m_looked = std::make_shared<Looked>();
    begin(
        tr("Connecting, logging in, asking the machine…"),
        [named, person = person(), looked = m_looked, places = m_session.places()](const Job::Reporter&) {
            const std::unique_ptr<RunBackend> backend = backend_for({named, {}});
            looked->there = backend->list(places, person);
            looked->session = std::move(backend->take_sessions().front());
            return QString();
        },
        [this](const QString&) {
            m_session.settings().setValue(u"follow/host"_s, m_host->currentText());
            show(m_looked->there);
            if (m_there.runs.empty())
                say(Tone::Warning, tr("Nothing to follow."), nothingWords(m_there));
            else
                m_runs->setFocus();
        });
}

void FollowDialog::show(const RunsThere& there) {
    m_there = there;
    std::stable_sort(m_there.runs.begin(), m_there.runs.end(), [](const RunThere& a, const RunThere& b) {
        const auto place = [](const RunThere& one) {
            return std::pair(is_over(one.run.state.state), -one.run.state.started);
        };
        return place(a) < place(b);
    });
    m_none->setText(there.host.empty() ? tr("Not read yet.") : QString());
    m_runs->clear();
    const Colours colours = coloursOf(this);
    for (const RunThere& one : m_there.runs) {
        const RunState& state = one.run.state;
        const RunMark mark = runMark(one.run);
        auto* item = new QTreeWidgetItem(
            m_runs, {QString::fromStdString(one.run.name), runWord(mark),
                     state.started > 0 ? show::time(state.started) : show::unknown(), stepWords(one.run)});
        item->setIcon(kState, runIcon(mark, colours));
        item->setTextAlignment(kStep, Qt::AlignRight | Qt::AlignVCenter);
        QString tip = QString::fromStdString(one.run.dir.string());
        if (one.run.is_cut_short())
            tip += u'\n' + cutShortWords(one.run.step.value_or(0));
        else if (!state.reason.empty())
            tip += u'\n' + reason_of(state);
        if (one.is_of_slurm) {
            item->setText(kState, runWord(mark) + u" \u00B7 Slurm"_s);
            item->setFlags(Qt::NoItemFlags);
            tip = tr("A Slurm job is followed on the machine that submitted it.");
        }
        for (int column = 0; column < kColumns; ++column) item->setToolTip(column, tip);
    }
    for (int row = 0; row < m_runs->topLevelItemCount(); ++row) {
        if (m_runs->topLevelItem(row)->flags() == Qt::NoItemFlags) continue;
        m_runs->setCurrentItem(m_runs->topLevelItem(row));
        break;
    }
    showState();
}

void FollowDialog::follow() {
    const RunThere* run = chosen();
    if (isBusy() || run == nullptr || !m_looked) return;
    begin(
        tr("Looking at the run…"),
        [named = hosts(), name = run->handle(), person = person(), looked = m_looked,
         runs_dir = m_session.places().runs_dir](const Job::Reporter&) {
            try {
                looked->adopted = adopt_run(*looked->session, name, named, runs_dir, person);
            } catch (const Error& lost) {
                if (lost.failure != Failure::Unreachable) throw;
                // The session may have been lost while the user looked at the list.
                looked->session =
                    std::make_unique<SshSession>(ssh_settings(parse_targets(named).front()), person);
                looked->adopted = adopt_run(*looked->session, name, named, runs_dir, person);
            }
            return QString::fromStdString(looked->adopted.run.dir.string());
        },
        [this](const QString& dir) {
            auto sessions = std::make_shared<Sessions>();
            sessions->resize(m_looked->adopted.asked + 1);
            sessions->back() = std::move(m_looked->session);
            letLive();
            m_session.keeper().keep(dir, sessions);
            accept();
            Q_EMIT followed(dir);
        });
}

void FollowDialog::showState() {
    MachineDialog::showState();
    m_host->setEnabled(!isBusy());
    m_look->setEnabled(!isBusy() && !hosts().empty());
    m_runs->setEnabled(!isBusy());
    m_go->setEnabled(!isBusy() && chosen() != nullptr);
    m_look->setDefault(!m_go->isEnabled());
    m_go->setDefault(m_go->isEnabled());
}

void FollowDialog::reject() {
    if (!isBusy()) return MachineDialog::reject();
    giveUp();
    show(RunsThere());  // ready for another try
}

}  // namespace ringmaster
