#include "gui/plan/plan_page.h"

#include <QDir>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMessageBox>
#include <QMimeData>
#include <QScrollBar>
#include <QShortcut>
#include <QSplitter>
#include <QStandardPaths>
#include <QTextDocument>
#include <QVBoxLayout>

#include "engine/error.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/plan/adapt_dialog.h"
#include "gui/plan/find_bar.h"
#include "gui/plan/plan_board.h"
#include "gui/plan/problem_list.h"
#include "gui/plan/topology_bar.h"
#include "gui/plan/verdict_words.h"
#include "gui/plan/yaml_editor.h"
#include "gui/session/device_words.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kDraftMs = 2000;         // delay after the last key
constexpr int kLeastCharacters = 40;   // characters of a line that fit without scrolling
constexpr int kFewestCharacters = 30;  // minimum in a narrow window, next to a problem with a long word
constexpr double kLeastBoardEms = 23;  // minimum width of the plan, including the page's margins

QString drafts_folder() {
    return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + u"/drafts"_s;
}

/// Returns the keys in parentheses; an empty text if the desktop has no keys for the action.
QString shortcut_text(const QKeySequence& keys) {
    return keys.isEmpty() ? QString() : u" ("_s + keys.toString(QKeySequence::NativeText) + u')';
}

const QKeySequence kLaunchKeys(Qt::CTRL | Qt::Key_Return);

}  // namespace

PlanPage::PlanPage(Session& session, QWidget* parent)
    : Page(parent),
      m_session(session),
      m_drafts(drafts_folder()),
      m_header(new PageHeader),
      m_notice(new Banner),
      m_draft_notice(new Banner),
      m_stack(new QStackedWidget),
      m_work(new QSplitter),
      m_sheet(new QSplitter),
      m_topology(new TopologyBar),
      m_editor(new YamlEditor),
      m_find(new FindBar(m_editor)),
      m_problems(new ProblemList),
      m_board(new PlanBoard),
      m_save(new QPushButton(tr("Save"))),
      m_save_as(new QPushButton(tr("Save as\u2026"))),
      m_rows(new QPushButton(tr("Rows"))),
      m_adapt(new QPushButton(tr("Make it run\u2026"))),
      m_launch(new ElidedButton(tr("Launch"))) {
    setAcceptDrops(true);
    makeHeader();
    m_notice->setObjectName(u"fileNotice"_s);
    m_notice->hide();
    m_draft_notice->setObjectName(u"draftNotice"_s);
    m_draft_notice->hide();

    auto* empty = new EmptyView(tr("No configuration is open"),
                                tr("Open an axolotl YAML or drop it here. You see what it means on your GPUs "
                                   "before anything runs."));
    QPushButton* open = empty->addAction(tr("Open\u2026"));
    open->setObjectName(u"openButton"_s);
    QPushButton* example = empty->addAction(tr("Try the example"));
    example->setObjectName(u"exampleButton"_s);
    connect(open, &QPushButton::clicked, &m_session, &Session::chooseConfig);
    connect(example, &QPushButton::clicked, &m_session, &Session::tryExample);

    m_work->setObjectName(u"planSplitter"_s);
    m_work->setChildrenCollapsible(false);
    m_work->setHandleWidth(space(0.7));
    m_work->addWidget(makeLeft());
    m_work->addWidget(m_board);
    m_work->setStretchFactor(0, 2);
    m_work->setStretchFactor(1, 3);
    m_stack->addWidget(empty);
    m_stack->addWidget(m_work);

    QVBoxLayout* layout = layOutPage(this, m_header);
    layout->addWidget(m_draft_notice);
    layout->addWidget(m_notice);
    layout->addWidget(m_stack, 1);
    m_draft_timer.setSingleShot(true);
    m_draft_timer.setInterval(kDraftMs);
    connectAll();
    addShortcuts();
    writeHeader();
    offerDraft();
}

PlanPage::~PlanPage() = default;

QWidget* PlanPage::makeLeft() {
    auto* sheet = new Card;
    sheet->setAccessibleName(tr("Configuration"));
    sheet->layout()->setContentsMargins(1, 1, 1, 1);
    m_sheet->setChildrenCollapsible(false);
    auto* text = new QWidget;
    auto* text_layout = new QVBoxLayout(text);
    text_layout->setContentsMargins(0, 0, 0, 0);
    text_layout->setSpacing(0);
    text_layout->addWidget(m_editor, 1);
    text_layout->addWidget(m_find);
    m_sheet->addWidget(text);
    m_sheet->addWidget(m_problems);
    m_sheet->setStretchFactor(0, 1);  // a larger window gives the text more room, not the problems
    m_sheet->setStretchFactor(1, 0);
    sheet->body()->addWidget(m_sheet, 1);

    auto* left = new QWidget;
    auto* layout = new QVBoxLayout(left);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(0.6));
    layout->addWidget(m_topology);
    layout->addWidget(sheet, 1);
    return left;
}

/// Puts the plan next to the text, and the problems below the text. In a narrow window, puts the plan below
/// the text, and the problems next to it.
void PlanPage::arrange() {
    const int text = m_editor->widthOf(kLeastCharacters);
    const int board = m_board->widget()->minimumSizeHint().width() +
                      m_board->verticalScrollBar()->sizeHint().width() + 2 * pageMargins().left() +
                      m_work->handleWidth();
    const bool is_wide = width() >= text + std::max(space(kLeastBoardEms), board);
    const auto along = is_wide ? Qt::Horizontal : Qt::Vertical;
    m_editor->setMinimumWidth(is_wide ? text : m_editor->widthOf(kFewestCharacters));
    m_board->setMinimumHeight(is_wide ? 0 : space(8));
    if (along == m_work->orientation() && m_sheet->orientation() != along) return;
    m_work->setOrientation(along);
    m_sheet->setOrientation(is_wide ? Qt::Vertical : Qt::Horizontal);
    m_work->setSizes(is_wide ? QList{space(24), space(40)} : QList{space(24), space(16)});
    const int sheet = width() - 2 * pageMargins().left() - m_sheet->handleWidth();
    const int problems = std::clamp(sheet - text, 0, space(14));
    m_sheet->setSizes(is_wide ? QList{space(19), space(14)} : QList{sheet - problems, problems});
}

/// Gives the list of problems, if it is below the text, the height that the text does not need, unless the
/// user has moved the splitter.
void PlanPage::shareSheet() {
    if (m_sheet->orientation() != Qt::Vertical || m_sheet_chosen || m_sheet->height() <= 0) return;
    const int room = m_sheet->height() - m_sheet->handleWidth(), least = std::min(space(14), room / 2);
    const int problems =
        std::min(m_problems->wantedHeight(), std::max(least, room - m_editor->wantedHeight()));
    m_sheet->setSizes({room - problems, problems});
}

void PlanPage::makeHeader() {
    m_save->setObjectName(u"saveButton"_s);
    m_save->setToolTip(tr("Save") + shortcut_text(QKeySequence::Save));
    m_save_as->setObjectName(u"saveAsButton"_s);
    m_save_as->setToolTip(tr("Save under another name") + shortcut_text(QKeySequence::SaveAs));
    m_rows->setObjectName(u"rowsButton"_s);
    m_rows->setToolTip(tr("Show the rows as the model sees them, before anything is trained"));
    m_adapt->setObjectName(u"adaptButton"_s);
    m_adapt->setToolTip(tr("Show what would have to change in the file"));
    m_launch->setObjectName(u"launchButton"_s);
    setPrimary(m_launch, true);
    m_header->addAction(m_save);
    m_header->addAction(m_save_as);
    m_header->addAction(m_rows);
    m_header->addAction(m_adapt);
    m_header->addAction(m_launch);
}

void PlanPage::connectAll() {
    connect(m_save, &QPushButton::clicked, this, &PlanPage::save);
    connect(m_save_as, &QPushButton::clicked, this, &PlanPage::saveAs);
    connect(m_rows, &QPushButton::clicked, this, &PlanPage::showRows);
    connect(m_adapt, &QPushButton::clicked, this, &PlanPage::adaptText);
    connect(m_launch, &QPushButton::clicked, this, &PlanPage::launch);
    connect(m_editor->document(), &QTextDocument::contentsChange, this, [this](int, int removed, int added) {
        if (removed == 0 && added == 0) return;
        if (m_edit_refused) m_notice->hide();
        replan();
        m_draft_timer.start();
    });
    connect(m_editor->document(), &QTextDocument::modificationChanged, this, &PlanPage::writeHeader);
    connect(m_editor, &YamlEditor::lineChanged, m_problems, &ProblemList::followLine);
    connect(m_editor, &YamlEditor::fileDropped, &m_session, &Session::openConfig);
    connect(m_sheet, &QSplitter::splitterMoved, this, [this] { m_sheet_chosen = true; });
    connect(m_problems, &ProblemList::lineWanted, this, [this](int line) {
        m_editor->goToLine(line);
        m_editor->setFocus();
    });
    // The layouts have their new sizes once the event loop runs again.
    connect(m_problems, &ProblemList::wantedHeightChanged, this, &PlanPage::shareSheet, Qt::QueuedConnection);
    connect(m_problems, &ProblemList::codeWanted, &m_session, &Session::explain);
    connect(m_problems, &ProblemList::fixWanted, this, [this](const Fix& fix) {
        applyEdit([&](const std::string& text) { return apply_fix(text, fix); });
    });
    connect(m_board, &PlanBoard::settingsWanted, this,
            [this](const std::vector<std::pair<std::string, std::string>>& set) {
                applyEdit([&](const std::string& text) { return set_keys(text, set); });
            });
    connect(m_board, &PlanBoard::lengthTried, this, &PlanPage::tryLength);
    connect(m_topology, &TopologyBar::changed, this, &PlanPage::replan);
    connect(&m_session, &Session::machineKnown, this, &PlanPage::replan);
    connect(&m_replanner, &Replanner::planned, this, &PlanPage::take);
    connect(&m_replanner, &Replanner::advised, this, [this](int number, const AdvicePtr& advice) {
        if (number != m_asked) return;
        m_advised = number;
        m_board->setAdvice(*advice);
    });
    connect(&m_draft_timer, &QTimer::timeout, this, &PlanPage::keepDraft);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, &PlanPage::fileChanged);
}

void PlanPage::addShortcuts() {
    const auto add = [this](const QKeySequence& keys, auto slot) {
        auto* shortcut = new QShortcut(keys, this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, slot);
    };
    add(QKeySequence::Save, [this] { save(); });
    add(QKeySequence::SaveAs, [this] { saveAs(); });
    add(QKeySequence::Find, [this] {
        if (m_open) m_find->start();
    });
    add(kLaunchKeys, [this] { m_launch->click(); });
}

// ------------------------------------------------------------ open and show

void PlanPage::choose(const Request& asked) {
    m_topology->choose(asked);
    replan();
}

bool PlanPage::isEdited() const {
    return m_open && m_editor->document()->isModified();
}

void PlanPage::showRows() {
    if (m_open) Q_EMIT rowsWanted(request(), m_editor->text());
}

QString PlanPage::rowsFile() const {
    return m_open ? QString::fromStdString(request().config) : QString();
}

Request PlanPage::request() const {
    Request asked;
    const QString path = m_file.isEmpty() ? m_base_dir + u"/untitled.yaml"_s : m_file;
    asked.config = path.toStdString();
    if (m_file.isEmpty()) asked.base_dir = m_base_dir.toStdString();
    asked.environment = parallelism_environment();
    m_topology->fill(asked);
    return asked;
}

void PlanPage::replan() {
    if (!m_open) return;
    PlanQuestion question{m_format.bytesOf(m_editor->text()).toStdString(),
                          request(),
                          m_session.machine().value_or(Machine()),
                          m_session.places(),
                          {}};
    m_asked = m_replanner.ask(std::move(question));
    m_board->setAdvicePending();
}

void PlanPage::tryLength(qint64 length) {
    PlanQuestion question{m_format.bytesOf(m_editor->text()).toStdString(), request(),
                          m_session.machine().value_or(Machine()), m_session.places(), length};
    m_replanner.ask(std::move(question));
}

void PlanPage::take(const PlanAnswerPtr& planned) {
    auto answer = std::make_shared<PlanAnswer>(*planned);
    if (answer->reading.readable) m_kept.applyTo(answer->plan);
    m_board->setPlan(*answer, m_session.machine().has_value());
    if (answer->what_if) return;
    m_planned = answer->number;
    m_answer = answer;
    m_editor->setMarks(answer->plan.diagnostics);
    m_problems->setProblems(answer->plan.diagnostics);
    m_problems->followLine(m_editor->currentLine());
    m_topology->showPlanned(answer->plan);
    writeHeader();
}

bool PlanPage::settled() const {
    return !m_open || (m_session.machine() && m_replanner.isIdle() && m_planned == m_asked);
}

// ------------------------------------------------------------ edits

void PlanPage::applyEdit(const std::function<std::string(const std::string&)>& edit) {
    try {
        const std::string before = m_editor->text().toStdString(), edited = edit(before);
        if (m_edit_refused) m_notice->hide();
        if (edited == before) replan();  // removes the effect of a length that the user only tried
        m_editor->edit(QString::fromStdString(edited));
        m_editor->setFocus();
    } catch (const std::exception& problem) {
        complain(problem);
        m_edit_refused = true;
    }
}

void PlanPage::adaptText() {
    const std::string before = m_editor->text().toStdString();
    const Adapted adapted =
        adapt_text(before, request(), m_session.machine().value_or(Machine()), m_session.places());
    if (AdaptDialog(adapted, this).exec() != QDialog::Accepted) return;
    applyEdit([&](const std::string&) { return adapted.text; });
}

void PlanPage::complain(const std::exception& problem) {
    const auto* error = dynamic_cast<const Error*>(&problem);
    if (!error) return say(Tone::Error, QString::fromUtf8(problem.what()));
    const QString what = message_of(*error), where = place_of(*error);
    say(Tone::Error, where.isEmpty() ? what : u"%1: %2"_s.arg(where, what), hint_of(*error));
}

void PlanPage::say(Tone tone, const QString& what, const QString& why) {
    m_edit_refused = false;
    m_notice->clearActions();
    m_notice->say(tone, what, why);
    QPushButton* close = m_notice->addAction(tr("Close"));
    close->setObjectName(u"closeNoticeButton"_s);
    connect(close, &QPushButton::clicked, m_notice, &QWidget::hide);
    m_notice->QWidget::show();
}

// ------------------------------------------------------------ save

void PlanPage::launch() {
    if (!m_launch->isEnabled()) return;
    if (isEdited()) {
        QMessageBox box(this);
        box.setObjectName(u"saveLaunchBox"_s);
        box.setWindowTitle(tr("Launch"));
        box.setText(tr("The edits are saved before the launch."));
        QPushButton* go = box.addButton(tr("Save and launch"), QMessageBox::AcceptRole);
        box.setEscapeButton(box.addButton(tr("Cancel"), QMessageBox::RejectRole));
        box.setDefaultButton(go);
        box.exec();
        if (box.clickedButton() != go || !save()) return;
    }
    Q_EMIT m_session.launchRequested(request());
}

// ------------------------------------------------------------ the file and the draft

void PlanPage::writeHeader() {
    const bool edited = isEdited();
    const QString name = m_file.isEmpty() ? tr("Unsaved copy") : QFileInfo(m_file).fileName();
    m_header->setTitle(m_open ? name : tr("Plan"));
    const QString folder = QFileInfo(m_file).absolutePath();
    m_header->setSubtitle(!m_open                      ? QString()
                          : edited                     ? tr("edited")
                          : folder == QDir::homePath() ? QString()
                                                       : show::path(folder));
    m_save->setEnabled(edited || (m_open && m_file.isEmpty()));
    m_save_as->setEnabled(m_open);
    for (QPushButton* button : {m_save, m_save_as, m_rows, m_launch}) button->setVisible(m_open);
    m_adapt->hide();
    m_launch->setEnabled(false);
    m_launch->setToolTip(tr("Not planned yet"));
    if (!m_answer) return;
    const Plan& plan = m_answer->plan;
    const auto& machine = m_session.machine();
    const QString not_here = machine ? missing_devices(plan, *machine) : QString();
    const VerdictWords words = verdict_words(plan, machine.has_value());
    const bool runs = plan.ok() && m_answer->reading.readable && !plan.config.accelerate_only;
    //: %1 such as "8 GPUs"; "elsewhere": on other machines, because this one lacks them
    m_launch->setText((not_here.isEmpty() || !runs ? tr("Launch on %1") : tr("Launch on %1 elsewhere\u2026"))
                          .arg(ranks_words(plan)));
    const bool stopped = !plan.ok() || plan.verdict == Verdict::WillNotFit;
    m_adapt->setVisible(m_open && stopped && m_answer->reading.readable);
    m_launch->setEnabled(runs);
    const QString what = not_here.isEmpty() ? tr("Prepare and start the training") : not_here;
    m_launch->setToolTip(runs ? what + shortcut_text(kLaunchKeys)
                         : plan.config.accelerate_only
                             ? tr("An accelerate file alone can be planned, not launched.")
                             : words.why);
}

void PlanPage::resizeEvent(QResizeEvent* event) {
    Page::resizeEvent(event);
    arrange();
}

void PlanPage::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls() && event->mimeData()->urls().first().isLocalFile())
        event->acceptProposedAction();
}

void PlanPage::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    Q_EMIT m_session.openConfig(event->mimeData()->urls().first().toLocalFile());
}

}  // namespace ringmaster
