#include "gui/launch/launch_form.h"

#include <QButtonGroup>
#include <QCheckBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "engine/error.h"
#include "gui/launch/preview_panel.h"
#include "gui/launch/slurm_fields.h"
#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/run_mark.h"
#include "gui/look/wrapped_items.h"
#include "gui/nodes/node_words.h"
#include "gui/session/finding_words.h"
#include "launcher/queue/queue_add.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

enum Where { kHere, kNodes, kSlurm };
constexpr int kMostRestarts = 99;
constexpr int kLeastLines = 4, kMostLines = 8;  ///< minimum and maximum height of the list of nodes, in lines
constexpr double kGroupGap = 0.8;

/// Shows a machine's last check in its list item: a mark and the check's words.
void showLast(QListWidgetItem* item, const SavedTarget& entry, const Colours& colours) {
    RunMark mark = RunMark::Waiting;
    QString words = LaunchForm::tr("not checked yet");
    if (entry.last) {
        const NodeVerdict state = entry.last->node.state;
        mark = state == NodeVerdict::Ready     ? RunMark::Completed
               : state == NodeVerdict::Warning ? RunMark::Damaged
                                               : RunMark::Failed;
        words = foundWords(entry.last->node).section(u'\n', 0, 0);
    }
    item->setIcon(runIcon(mark, colours));
    item->setText(QString::fromStdString(entry.target.host) + u" \u00B7 "_s + words);
    item->setToolTip(words);
}

}  // namespace

LaunchForm::LaunchForm(Session& session, const Request& request, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_remarks(launch_remarks(request, session.machine().value_or(Machine()), session.places())),
      m_roster(read_saved_targets(saved_targets_file(session.places()))),
      m_here(new QRadioButton(tr("This machine"))),
      m_ssh(new QRadioButton(tr("Machines over SSH"))),
      m_slurm(new QRadioButton(u"Slurm"_s)),
      m_nodes(new QListWidget),
      m_fields(new SlurmFields(m_roster, session.settings())),
      m_name(new QLineEdit),
      m_preflight(new QCheckBox(tr("Prove the mesh first (preflight)"))),
      m_restarts(new QSpinBox),
      m_restarts_words(mutedLabel()),
      m_shrink(new QCheckBox(tr("Leave out nodes that stay away, without asking"))),
      m_warnings(new QLabel),
      m_problem(mutedLabel()),
      m_preview(new PreviewPanel(session, request)) {
    m_name->setPlaceholderText(m_remarks.name);
    m_warnings->setObjectName(u"launchWarnings"_s);
    m_warnings->setWordWrap(true);
    m_warnings->setTextFormat(Qt::PlainText);
    m_problem->setObjectName(u"launchProblem"_s);
    m_problem->setWordWrap(true);
    m_problem->setTextFormat(Qt::PlainText);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(kGroupGap));
    layout->addWidget(makePlaces());
    layout->addWidget(makeSwitches());
    layout->addWidget(m_preview, 1);
    layout->addWidget(m_warnings);
    layout->addWidget(m_problem);
    restore();
    connect(m_preview, &PreviewPanel::changed, this, &LaunchForm::tellWhyNot);
    tell();
}

QWidget* LaunchForm::makePlaces() {
    auto* one = new QButtonGroup(this);
    auto* radios = new QHBoxLayout;
    radios->setSpacing(space(1.2));
    const std::pair<QRadioButton*, QString> named[] = {
        {m_here, u"launchHere"_s}, {m_ssh, u"launchNodes"_s}, {m_slurm, u"launchSlurm"_s}};
    for (const auto& [radio, name] : named) {
        radio->setObjectName(name);
        one->addButton(radio);
        radios->addWidget(radio);
    }
    radios->addStretch(1);
    auto* here =
        mutedLabel(tr("The ranks are processes of this machine; they go on when the window is closed."));
    here->setWordWrap(true);
    here->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_pages = {here, makeNodes(), m_fields};
    auto* places = new QWidget;
    auto* layout = new QVBoxLayout(places);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(0.5));
    layout->addLayout(radios);
    for (QWidget* page : m_pages) layout->addWidget(page);
    connect(one, &QButtonGroup::buttonToggled, this, [this](QAbstractButton*, bool on) {
        if (on) tell();
    });
    connect(m_fields, &SlurmFields::changed, this, &LaunchForm::tell);
    return places;
}

QWidget* LaunchForm::makeNodes() {
    m_nodes->setObjectName(u"launchNodeList"_s);
    m_nodes->setAccessibleName(tr("Machines that the ranks are spread over"));
    m_nodes->setIconSize(QSize(space(0.95), space(0.95)));
    wrapItems(m_nodes);
    const Colours colours = coloursOf(this);
    for (const SavedTarget& entry : m_roster) {
        if (entry.target.kind != TargetKind::Ssh) continue;
        auto* item = new QListWidgetItem;
        item->setData(Qt::UserRole, QString::fromStdString(entry.target.host));
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
        item->setCheckState(Qt::Unchecked);
        showLast(item, entry, colours);
        m_nodes->addItem(item);
    }
    m_nodes->ensurePolished();
    const auto height = [this](int lines) {
        return std::max(space(7.5), lines * m_nodes->sizeHintForRow(0) + 2 * m_nodes->frameWidth());
    };
    m_nodes->setMinimumHeight(height(std::min(kLeastLines, m_nodes->count())));
    // Leaves room for two lines per machine, because many texts wrap.
    m_nodes->setMaximumHeight(height(std::min(kMostLines, 2 * m_nodes->count())));
    auto* more = quietButton(tr("Name and check machines…"));
    more->setObjectName(u"goToNodesButton"_s);
    auto* page = new QWidget;
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(0.3));
    layout->addWidget(m_nodes);
    layout->addWidget(more, 0, Qt::AlignLeft);
    connect(more, &QPushButton::clicked, this, &LaunchForm::nodesWanted);
    connect(m_nodes, &QListWidget::itemChanged, this, &LaunchForm::tell);
    return page;
}

QWidget* LaunchForm::makeSwitches() {
    m_preflight->setObjectName(u"preflightSwitch"_s);
    m_preflight->setChecked(true);
    auto* why =
        mutedLabel(tr("Before the first step, the run's first rows are computed as one rank would: loss and "
                      "gradients have to agree, or it does not start."));
    why->setWordWrap(true);
    m_restarts->setObjectName(u"restartsBox"_s);
    m_restarts->setRange(0, kMostRestarts);
    m_restarts->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_restarts->setSpecialValueText(tr("never"));
    m_restarts->setAccessibleName(tr("Restarts after a failure"));
    m_restarts_words->setWordWrap(true);
    m_restarts_words->setObjectName(u"restartsWords"_s);
    m_shrink->setObjectName(u"shrinkSwitch"_s);
    m_shrink->setToolTip(
        tr("A node that does not answer for 30 s is left out where the mesh can be smaller; node 0 has to be "
           "there. The rows of a step, and with them the losses, stay the same where they can."));
    m_name->setObjectName(u"runNameEdit"_s);
    m_name->setAccessibleName(tr("Name of the run"));
    auto* restarts = new QLabel(tr("Restarts after a failure"));
    restarts->setBuddy(m_restarts);
    auto* name = new QLabel(tr("Name of the run"));
    name->setBuddy(m_name);
    auto* switches = new QWidget;
    auto* grid = new QGridLayout(switches);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(space(0.6));
    grid->setVerticalSpacing(space(0.3));
    grid->setColumnStretch(1, 1);
    grid->addWidget(m_preflight, 0, 0, 1, 2);
    grid->addWidget(why, 1, 0, 1, 2);
    for (const int gap : {2, 5}) grid->setRowMinimumHeight(gap, space(kGroupGap) - grid->verticalSpacing());
    grid->addWidget(restarts, 3, 0);
    auto* limit = new QHBoxLayout;  // if the number is hidden, the words line up with the name above
    limit->setSpacing(grid->horizontalSpacing());
    limit->addWidget(m_restarts);
    limit->addWidget(m_restarts_words, 1);
    grid->addLayout(limit, 3, 1);
    grid->addWidget(m_shrink, 4, 1);
    grid->addWidget(name, 6, 0);
    grid->addWidget(m_name, 6, 1);
    connect(m_preflight, &QCheckBox::toggled, this, &LaunchForm::tell);
    connect(m_restarts, &QSpinBox::valueChanged, this, &LaunchForm::tell);
    connect(m_shrink, &QCheckBox::toggled, this, &LaunchForm::tell);
    connect(m_name, &QLineEdit::textChanged, this, &LaunchForm::tell);
    return switches;
}

QStringList LaunchForm::chosenNodes() const {
    QStringList nodes;
    for (int row = 0; row < m_nodes->count(); ++row) {
        const QListWidgetItem* item = m_nodes->item(row);
        if (item->checkState() == Qt::Checked) nodes << item->data(Qt::UserRole).toString();
    }
    return nodes;
}

/// Returns the choice that the form holds. Throws Error(Usage) if a field is wrong.
LaunchChoice LaunchForm::read() const {
    LaunchChoice choice;
    choice.name = m_name->text().trimmed().toStdString();
    if (!choice.name.empty()) check_run_name(choice.name);
    choice.preflight = m_preflight->isChecked();
    choice.restarts = m_restarts->value();
    choice.shrink = m_shrink->isChecked();
    if (m_here->isChecked() && !m_remarks.why_not_here.isEmpty())
        throw Error(Failure::Usage, Code("MESH-DEVICES"), m_remarks.why_not_here.toStdString());
    if (m_ssh->isChecked()) {
        for (const QString& node : chosenNodes()) choice.to.nodes.push_back(node.toStdString());
        if (choice.to.nodes.empty())
            throw Error(Failure::Usage, Code("ARGUMENT-MISSING"),
                        (m_nodes->count() == 0 ? tr("No machine is named yet.") : tr("Choose the machines."))
                            .toStdString());
    }
    if (m_slurm->isChecked()) {
        choice.to = slurm_destination(m_fields->words(), {});
        if (!m_fields->login().empty()) choice.to.nodes = {m_fields->login()};
    }
    return choice;
}

std::optional<LaunchChoice> LaunchForm::choice() const {
    try {
        return read();
    } catch (const Error&) {
        return std::nullopt;
    }
}

QString LaunchForm::problem() const {
    if (m_here->isChecked() && !m_remarks.why_not_here.isEmpty()) return m_remarks.why_not_here;
    try {
        std::ignore = read();
        return {};
    } catch (const Error& problem) {
        return show::advised(message_of(problem), hint_of(problem));
    }
}

int LaunchForm::where() const {
    return m_ssh->isChecked() ? kNodes : m_slurm->isChecked() ? kSlurm : kHere;
}

void LaunchForm::tell() {
    for (int page = 0; page < int(m_pages.size()); ++page) m_pages[size_t(page)]->setVisible(page == where());
    tellRestarts();
    tellRemarks();
    m_preview->setChoice(choice());
    tellWhyNot();
}

/// Says why a button of the dialog is disabled, unless the preview already shows the reason.
void LaunchForm::tellWhyNot() {
    QString words = problem();
    const QString offer = m_preview->offer();
    if (words.isEmpty() && m_slurm->isChecked() && !offer.isEmpty())
        words = tr("A job is submitted only as it is shown: press “%1” first.").arg(offer);
    if (words.isEmpty()) words = whyNotQueued();
    m_problem->setText(words);
    m_problem->setVisible(!words.isEmpty());
    Q_EMIT changed();
}

void LaunchForm::tellRemarks() {
    QStringList words = m_remarks.warnings;
    const QString name = m_name->text().trimmed();
    if (!name.isEmpty() && choice()) words << taken_words(name, m_session.places());
    words.removeAll({});
    m_warnings->setText(words.join(u'\n'));
    m_warnings->setVisible(!words.isEmpty());
}

/// Explains which program restarts the run, and what happens after this window is closed.
void LaunchForm::tellRestarts() {
    const auto nodes = chosenNodes().size();
    const bool over_several = m_ssh->isChecked() && nodes > 1;
    m_restarts->setVisible(!m_slurm->isChecked());
    m_shrink->setVisible(over_several);
    m_shrink->setEnabled(m_restarts->value() > 0);
    if (m_slurm->isChecked())
        m_restarts_words->setText(
            tr("Slurm decides: it requeues a job that it warned before its time limit. After any other end, "
               "press Resume."));
    else if (over_several)
        m_restarts_words->setText(tr(
            "from the newest complete checkpoint, by this window: once it is closed the run goes on, but is "
            "not started again"));
    else if (m_ssh->isChecked())
        m_restarts_words->setText(
            tr("from the newest complete checkpoint, by the agent on that machine, with this window closed "
               "too"));
    else
        m_restarts_words->setText(
            tr("from the newest complete checkpoint, by the agent, with this window closed too"));
}

bool LaunchForm::isReady() const {
    const auto now = choice();
    return now && (!m_slurm->isChecked() || m_preview->isShown());
}

QString LaunchForm::actionText() const {
    return m_slurm->isChecked() ? tr("Submit") : tr("Launch");
}

QString LaunchForm::whyNotQueued() const {
    const auto now = choice();
    if (!now || now->restarts == 0 || can_restart_queued(now->to)) return {};
    return tr(
        "To add it to the queue, set the restarts to never: nothing restarts a queued run over "
        "several machines.");
}

int LaunchForm::hiddenHeight() const {
    return m_preview->hiddenHeight();
}

std::shared_ptr<RunBackend> LaunchForm::takeReached() {
    return m_preview->takeReached();
}

void LaunchForm::keep() {
    QSettings& settings = m_session.settings();
    settings.setValue(u"launch/where"_s, where());
    settings.setValue(u"launch/nodes"_s, chosenNodes());
    settings.setValue(u"launch/restarts"_s, m_restarts->value());
    settings.setValue(u"launch/shrink"_s, m_shrink->isChecked());
    m_fields->keep();
}

void LaunchForm::restore() {
    const QSettings& settings = m_session.settings();
    const int where = settings.value(u"launch/where"_s).toInt();
    (where == kNodes ? m_ssh : where == kSlurm ? m_slurm : m_here)->setChecked(true);
    const QStringList nodes = settings.value(u"launch/nodes"_s).toStringList();
    for (int row = 0; row < m_nodes->count(); ++row) {
        QListWidgetItem* item = m_nodes->item(row);
        if (nodes.contains(item->data(Qt::UserRole).toString())) item->setCheckState(Qt::Checked);
    }
    m_restarts->setValue(settings.value(u"launch/restarts"_s).toInt());
    m_shrink->setChecked(settings.value(u"launch/shrink"_s).toBool());
}

}  // namespace ringmaster
