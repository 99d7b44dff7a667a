#include "gui/app/main_window.h"

#include <QActionGroup>
#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QElapsedTimer>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QScreen>
#include <QShortcut>
#include <QStackedWidget>
#include <QStatusBar>
#include <QStyleOptionButton>
#include <QVBoxLayout>
#include <algorithm>

#include "engine/error.h"
#include "gui/app/alerts_dialog.h"
#include "gui/app/command_palette.h"
#include "gui/app/languages.h"
#include "gui/data/data_page.h"
#include "gui/help/help_page.h"
#include "gui/launch/launch_dialog.h"
#include "gui/login/login_prompts.h"
#include "gui/look/card.h"
#include "gui/look/icons.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/monitor/monitor_page.h"
#include "gui/nodes/nodes_page.h"
#include "gui/plan/plan_page.h"
#include "gui/queue/queue_page.h"
#include "gui/runs/fetch_dialog.h"
#include "gui/runs/follow_dialog.h"
#include "gui/runs/runs_page.h"
#include "gui/session/finding_words.h"
#include "gui/session/run_keeper.h"
#include "gui/start/start_page.h"
#include "gui/try/try_page.h"
#include "launcher/run/local_node.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kAheadAtOnce_ms = 5;

/// Draws no menu arrow, because Qt ignores the padding of a button with one. The button then looks like the
/// sidebar's other entries.
class MenuButton : public QPushButton {
  protected:
    void initStyleOption(QStyleOptionButton* option) const override {
        QPushButton::initStyleOption(option);
        option->features.setFlag(QStyleOptionButton::HasMenu, false);
    }
};

}  // namespace

MainWindow::MainWindow(Session& session)
    : m_session(session),
      m_stack(new QStackedWidget),
      m_navigation(new QVBoxLayout),
      m_menu(new MenuButton),
      m_machine(mutedLabel()),
      m_launch(new LaunchDialog(session, this)),
      m_prompts(new LoginPrompts(this)) {
    setWindowTitle(u"Ringmaster"_s);
    qApp->installEventFilter(this);
    setAcceptDrops(true);
    auto* central = new QWidget;
    auto* layout = new QHBoxLayout(central);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeSidebar());
    layout->addWidget(m_stack, 1);
    setCentralWidget(central);
    addPage(u"start"_s, tr("Start"), QKeySequence(Qt::CTRL | Qt::Key_1),
            [this] { return new StartPage(m_session); });
    addPage(u"plan"_s, tr("Plan"), QKeySequence(Qt::CTRL | Qt::Key_2), [this] { return makePlan(); });
    addPage(u"data"_s, tr("Data"), QKeySequence(Qt::CTRL | Qt::Key_6), [this] { return makeData(); });
    addPage(u"nodes"_s, tr("Nodes"), QKeySequence(Qt::CTRL | Qt::Key_3),
            [this] { return new NodesPage(m_session); });
    addPage(u"monitor"_s, tr("Monitor"), QKeySequence(Qt::CTRL | Qt::Key_4),
            [this] { return makeMonitor(); });
    addPage(u"runs"_s, tr("Runs"), QKeySequence(Qt::CTRL | Qt::Key_5), [this] { return makeRuns(); });
    addPage(u"queue"_s, tr("Queue"), QKeySequence(Qt::CTRL | Qt::Key_8),
            [this] { return new QueuePage(m_session); });
    addPage(u"try"_s, tr("Try it"), QKeySequence(Qt::CTRL | Qt::Key_7),
            [this] { return new TryPage(m_session); });
    addPage(u"help"_s, tr("Help"), QKeySequence(QKeySequence::HelpContents),
            [this] { return new HelpPage(m_session); });
    for (size_t next = 1; next < m_places.size(); ++next)
        setTabOrder(m_places[next - 1].button, m_places[next].button);
    // The pages' widgets come after the menu, because they are created later.
    setTabOrder(m_places.back().button, m_menu);
    setIcons();
    fitSidebar();
    m_session.setPeople([prompts = QPointer(m_prompts)](std::function<bool()> given_up) {
        return prompts ? prompts->person(std::move(given_up)) : SshPerson{{}, {}, std::move(given_up)};
    });
    connect(&m_ahead, &QTimer::timeout, this, &MainWindow::makeAhead);
    m_session.setAsking(LoginPrompts::asking(m_prompts));
    connectSession();
    connectLaunch();
    connectElsewhere();
    tellMachine();
    showPage(u"start"_s);
}

QWidget* MainWindow::makeSidebar() {
    auto* bar = new QWidget;
    bar->setObjectName(u"sidebar"_s);
    bar->setAutoFillBackground(true);
    bar->setBackgroundRole(QPalette::Base);
    auto* name = new QLabel(u"Ringmaster"_s);
    name->setFont(fontOf(Type::Title));
    const int left = space(0.65);  // where the icons of the entries begin
    name->setContentsMargins(left, 0, 0, space(0.4));
    m_menu->setText(tr("Menu"));
    m_menu->setAccessibleName(tr("Menu"));
    m_menu->setObjectName(u"menuButton"_s);
    m_menu->setProperty("role", u"navigation"_s);
    makeMenu(m_menu);
    m_machine->setWordWrap(true);
    m_machine->setObjectName(u"machineLabel"_s);
    m_machine->setContentsMargins(left, 0, 0, 0);
    m_navigation->setSpacing(space(0.2));
    auto* layout = new QVBoxLayout(bar);
    layout->setContentsMargins(space(0.7), space(1), space(0.7), space(0.9));
    layout->setSpacing(space(0.5));
    layout->addWidget(name);
    layout->addLayout(m_navigation);
    layout->addStretch(1);
    layout->addWidget(m_menu);
    layout->addWidget(m_machine);
    return bar;
}

/// Makes the sidebar as wide as its longest name, with room for the bold letters of the open page.
void MainWindow::fitSidebar() {
    QWidget* bar = m_menu->parentWidget();
    int bold_letters = space(0.6);
    for (const Place& place : m_places) {
        QFont bold = place.button->font();
        bold.setWeight(QFont::DemiBold);  // the weight that the style sheet gives the open page's button
        const QString text = place.button->text();
        bold_letters = std::max(bold_letters, QFontMetrics(bold).horizontalAdvance(text) -
                                                  QFontMetrics(place.button->font()).horizontalAdvance(text));
    }
    bar->setFixedWidth(std::max(space(9), bar->sizeHint().width() + bold_letters));
}

void MainWindow::addPage(const QString& name, const QString& title, const QKeySequence& keys,
                         std::function<Page*()> make) {
    auto* button = new QPushButton(title);
    button->setCheckable(true);
    button->setProperty("role", u"navigation"_s);
    button->setObjectName(u"go-"_s + name);
    button->setAccessibleName(title);
    button->setToolTip(u"%1 (%2)"_s.arg(title, keys.toString(QKeySequence::NativeText)));
    m_navigation->addWidget(button);
    m_places.push_back({name, std::move(make), nullptr, button});
    connect(button, &QPushButton::clicked, this, [this, name] { showPage(name); });
    auto* shortcut = new QShortcut(keys, this);
    connect(shortcut, &QShortcut::activated, this, [this, name] { showPage(name); });
}

void MainWindow::makeMenu(QPushButton* button) {
    auto* menu = new QMenu(button);
    menu->addAction(tr("Open…"), QKeySequence::Open, this, &MainWindow::chooseConfig);
    menu->addAction(tr("Attach to a run…"), this, [this] {
        const QString dir = QFileDialog::getExistingDirectory(
            this, tr("Attach to a run"), QString::fromStdString(m_session.places().runs_dir.string()));
        if (!dir.isEmpty()) Q_EMIT m_session.openRun(dir);
    });
    QAction* follow = menu->addAction(tr("Follow a run on another machine…"));
    follow->setObjectName(u"followAction"_s);
    connect(follow, &QAction::triggered, &m_session, &Session::followRequested);
    menu->addSeparator();
    QMenu* languages = menu->addMenu(tr("Language"));
    auto* one_language = new QActionGroup(menu);
    for (const Language& language : languages_known()) {
        QAction* action = languages->addAction(language.name);
        action->setCheckable(true);
        action->setChecked(language.code == language_now());
        one_language->addAction(action);
        connect(action, &QAction::triggered, this,
                [this, language] { Q_EMIT languageChosen(language.code); });
    }
    QMenu* appearances = menu->addMenu(tr("Appearance"));
    auto* one_appearance = new QActionGroup(menu);
    const QStringList names{tr("As the desktop"), tr("Light"), tr("Dark")};
    for (int which = 0; which < names.size(); ++which) {
        QAction* action = appearances->addAction(names[which]);
        action->setCheckable(true);
        action->setChecked(which == m_session.settings().value(u"appearance"_s, 0).toInt());
        one_appearance->addAction(action);
        connect(action, &QAction::triggered, this, [this, which] {
            m_session.settings().setValue(u"appearance"_s, which);
            applyAppearance(Appearance(which));
        });
    }
    menu->addSeparator();
    menu->addAction(tr("Commands…"), QKeySequence(Qt::CTRL | Qt::Key_K), this, &MainWindow::openPalette)
        ->setObjectName(u"paletteAction"_s);
    QAction* alerts = menu->addAction(tr("Alerts…"));
    alerts->setObjectName(u"alertsAction"_s);
    connect(alerts, &QAction::triggered, this, [this] {
        auto* dialog = new AlertsDialog(this);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->open();
    });
    QAction* about = menu->addAction(tr("About Ringmaster"), this, [this] {
        QMessageBox box(
            QMessageBox::NoIcon, tr("About Ringmaster"),
            tr("Ringmaster %1\n\nPlans, launches and watches the training of language models on sequences "
               "too "
               "long for one GPU.\n\nGPL-3.0-or-later. Built on Qt %2, LibTorch, yaml‑cpp and libssh.")
                .arg(QStringLiteral(RINGMASTER_VERSION), QString::fromLatin1(qVersion())),
            QMessageBox::NoButton, this);
        box.setIconPixmap(windowIcon().pixmap(QSize(space(4.5), space(4.5)), devicePixelRatioF()));
        box.addButton(tr("Close"), QMessageBox::RejectRole);  // Qt's own translation may be missing
        box.exec();
    });
    about->setObjectName(u"aboutAction"_s);
    menu->addAction(tr("Quit"), QKeySequence::Quit, this, &QWidget::close);
    // The shortcuts then work while the menu is closed.
    for (QAction* action : menu->actions()) addAction(action);
    button->setMenu(menu);
}

/// Lets Ctrl+K open the palette everywhere. A text field would otherwise delete to the end of the line.
bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_K && key->modifiers() == Qt::ControlModifier) {
            event->ignore();
            return true;
        }
    }
    return QMainWindow::eventFilter(watched, event);
}

void MainWindow::openPalette() {
    std::vector<PaletteEntry> entries;
    for (const Place& place : m_places)
        entries.push_back({place.button->text(), {}, [this, name = place.name] { showPage(name); }});
    for (QAction* action : actions())
        if (!action->isSeparator() && !action->menu() && action->isEnabled() &&
            action->objectName() != u"paletteAction"_s)
            entries.push_back({action->text(), action->shortcut().toString(QKeySequence::NativeText),
                               [action = QPointer(action)] {
                                   if (action) action->trigger();
                               }});
    const std::vector<PaletteEntry> here = buttons_of(m_stack->currentWidget());
    entries.insert(entries.end(), here.begin(), here.end());
    auto* palette = new CommandPalette(std::move(entries), this);
    palette->setAttribute(Qt::WA_DeleteOnClose);
    palette->open();
}

void MainWindow::setIcons() {
    const int side = space(1.05);
    for (const Place& place : m_places) {
        place.button->setIcon(icon(place.name));
        place.button->setIconSize({side, side});
    }
    m_menu->setIcon(icon(u"settings"_s));
    m_menu->setIconSize({side, side});
    setWindowIcon(QIcon(u":/icons/ringmaster.svg"_s));
}

void MainWindow::connectSession() {
    Session* s = &m_session;
    connect(s, &Session::openConfig, this, [this](const QString& file) {
        showPage(u"plan"_s);
        plan()->openFile(file);
    });
    connect(s, &Session::openText, this, [this](const QString& text, const QString& base_dir) {
        showPage(u"plan"_s);
        plan()->openText(text, base_dir);
    });
    connect(s, &Session::chooseConfig, this, &MainWindow::chooseConfig);
    connect(s, &Session::openRun, this, [this](const QString& dir) {
        m_seen_runs.insert(dir);
        showPage(u"monitor"_s);
        monitor()->openRun(dir);
    });
    connect(s, &Session::nodesRequested, this, [this] { showPage(u"nodes"_s); });
    connect(s, &Session::compareRuns, this, [this](const QStringList& dirs) {
        showPage(u"runs"_s);
        runs()->compare(dirs);
    });
    connect(s, &Session::explain, this, [this](const QString& what) {
        showPage(u"help"_s);
        help()->explain(what);
    });
    connect(s, &Session::notice, this, [this](const QString& text) { statusBar()->showMessage(text, 8000); });
    connect(s, &Session::machineKnown, this, &MainWindow::tellMachine);
}

void MainWindow::connectLaunch() {
    Session* s = &m_session;
    connect(s, &Session::launchRequested, this, [this](const Request& request) {
        if (!m_launch->isBusy()) m_launch->ask(request);
    });
    connect(s, &Session::resumeRequested, this, [this](const QString& dir, const ResumeOptions& options) {
        if (m_session.keeper().news(dir).restarting)
            Q_EMIT m_session.notice(tr("It is being started again already."));
        else if (!m_launch->isBusy())
            m_launch->resume(dir, options);
    });
    connect(s, &Session::setUpRequested, this, [this] {
        if (!m_launch->isBusy()) m_launch->setUp();
    });
    connect(s, &Session::measureRequested, this, [this] {
        if (!m_launch->isBusy()) m_launch->measure();
    });
    connect(s, &Session::tryExample, this, [this] {
        if (!m_launch->isBusy()) m_launch->makeExample();
    });
    connect(m_launch, &LaunchDialog::exampleMade, s, &Session::openConfig);
    connect(m_launch, &LaunchDialog::madeReady, s, &Session::machineKnown);
    connect(m_launch, &LaunchDialog::nodesWanted, s, &Session::nodesRequested);
    connect(m_launch, &LaunchDialog::queued, this, [this] {
        Q_EMIT m_session.runsChanged();
        showPage(u"queue"_s);
    });
    connect(m_launch, &LaunchDialog::started, this, [this](const QString& dir) {
        m_seen_runs.insert(dir);
        Q_EMIT m_session.runsChanged();
        Q_EMIT m_session.openRun(dir);
    });
}

/// Connects the dialogs that follow runs of other machines and fetch their results.
void MainWindow::connectElsewhere() {
    connect(&m_session, &Session::followRequested, this, [this] {
        auto* dialog = new FollowDialog(m_session, this);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        connect(dialog, &FollowDialog::followed, this, [this](const QString& dir) {
            Q_EMIT m_session.runsChanged();
            Q_EMIT m_session.openRun(dir);
        });
        dialog->open();
    });
    connect(&m_session, &Session::fetchRequested, this, [this](const QString& dir) {
        auto* dialog = new FetchDialog(m_session, dir, this);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        connect(dialog, &FetchDialog::fetched, &m_session, &Session::runsChanged);
        dialog->open();
        dialog->ask();
    });
}

void MainWindow::showPage(const QString& name) {
    if (!hasPage(name)) return;
    for (const Place& place : m_places) place.button->setChecked(place.name == name);
    m_stack->setCurrentWidget(page(name));
    if (name == u"data"_s) data()->offer(plan()->rowsFile());
    if (name == u"queue"_s) queue()->offer(plan()->rowsFile());
    const auto is_navigation = [this](const QWidget* widget) {
        return std::any_of(m_places.begin(), m_places.end(),
                           [widget](const Place& place) { return place.button == widget; });
    };
    if (!focusWidget() || is_navigation(focusWidget())) {
        for (const Place& place : m_places)
            if (place.name == name) place.button->setFocus();
    }
}

QString MainWindow::pageName() const {
    for (const Place& place : m_places)
        if (place.page && place.page == m_stack->currentWidget()) return place.name;
    return {};
}

Page* MainWindow::page(const QString& name) {
    for (Place& place : m_places) {
        if (place.name != name) continue;
        place.is_wanted = true;
        return made(place);
    }
    return nullptr;
}

Page* MainWindow::made(Place& place) {
    if (!place.page) m_stack->addWidget(place.page = place.make());
    return place.page;
}

void MainWindow::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    m_ahead.start(0);
}

/// Makes the other pages in advance, a few milliseconds at a time. Qt takes a tenth of a second to apply the
/// style sheet to a page's widgets, and the window would freeze for that long when the page is first shown.
void MainWindow::makeAhead() {
    QElapsedTimer clock;
    clock.start();
    while (!m_unstyled.isEmpty() && clock.elapsed() < kAheadAtOnce_ms) {
        if (QWidget* widget = m_unstyled.takeLast()) widget->ensurePolished();  // also styles its children
    }
    if (!m_unstyled.isEmpty()) return;
    const auto next =
        std::find_if(m_places.begin(), m_places.end(), [](const Place& at) { return !at.page; });
    if (next == m_places.end()) return m_ahead.stop();
    for (QWidget* widget : made(*next)->findChildren<QWidget*>()) m_unstyled << widget;
}

bool MainWindow::hasPage(const QString& name) const {
    return std::any_of(m_places.begin(), m_places.end(),
                       [&](const Place& place) { return place.name == name; });
}

void MainWindow::openPath(const QString& path) {
    const QFileInfo info(path);
    if (info.isDir() || !info.exists()) {
        try {
            const RunDirectory run = find_run(path.toStdString(), m_session.places().runs_dir);
            Q_EMIT m_session.openRun(QString::fromStdString(run.dir.string()));
            return;
        } catch (const Error& error) {
            if (info.isDir()) {
                statusBar()->showMessage(text_of(error));
                return;
            }
        }
    }
    Q_EMIT m_session.openConfig(info.absoluteFilePath());  // the page reports what is wrong with the file
}

void MainWindow::choose(const Request& asked) {
    if (asked.ranks || asked.nodes || asked.device || asked.device_memory_bytes) plan()->choose(asked);
}

void MainWindow::openRuns(const QStringList& runs) {
    QStringList dirs;
    for (const QString& run : runs) {
        try {
            dirs << QString::fromStdString(
                find_run(run.toStdString(), m_session.places().runs_dir).dir.string());
        } catch (const Error& error) {
            statusBar()->showMessage(text_of(error));
        }
    }
    if (dirs.size() > 1) Q_EMIT m_session.compareRuns(dirs);
    if (dirs.size() == 1) Q_EMIT m_session.openRun(dirs.first());
}

void MainWindow::chooseConfig() {
    const QStringList recent = m_session.recentFiles();
    const QString folder = recent.isEmpty() ? QString() : QFileInfo(recent.first()).absolutePath();
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Open a configuration"), folder, tr("YAML (*.yaml *.yml)") + u";;"_s + tr("All files (*)"));
    if (!file.isEmpty()) Q_EMIT m_session.openConfig(file);
}

void MainWindow::tellMachine() {
    if (!m_session.machine()) {
        m_machine->setText(tr("looking at this machine…"));
        return;
    }
    const Machine& machine = *m_session.machine();
    const QString devices = machine.gpus.empty()
                                ? tr("%n core(s)", nullptr, machine.cores)
                                : show::listed({tr("%n GPU(s)", nullptr, int(machine.gpus.size())),
                                                show::bytes(machine.gpus.front().memory_bytes)});
    m_machine->setText(QString::fromStdString(machine.host) + u'\n' + devices + u" \u00B7 "_s +
                       show::bytes(machine.ram_bytes));
}

void MainWindow::restore() {
    restoreSize();
    QSettings& settings = m_session.settings();
    const QString file = settings.value(u"openFile"_s).toString();
    const QString run = settings.value(u"openRun"_s).toString();
    if (QFileInfo(file).isFile()) plan()->openFile(file);
    if (QFileInfo(run + u"/run.json"_s).isFile()) monitor()->openRun(run);
    showPage(settings.value(u"page"_s, u"start"_s).toString());
}

void MainWindow::restoreSize() {
    const QByteArray saved = m_session.settings().value(u"geometry"_s).toByteArray();
    if (!restoreGeometry(saved)) resize(space(72), space(47));
    const QRect room = screen()->availableGeometry();
    resize(size().boundedTo(room.size()));
    const QPoint farthest(room.right() - width() + 1, room.bottom() - height() + 1);
    move(std::clamp(x(), room.left(), farthest.x()), std::clamp(y(), room.top(), farthest.y()));
}

void MainWindow::saveState() {
    QSettings& settings = m_session.settings();
    settings.setValue(u"geometry"_s, saveGeometry());
    settings.setValue(u"page"_s, pageName());
    for (const Place& place : m_places) {
        if (!place.is_wanted) continue;  // the page was never opened, so its stored value stays
        if (const auto* plan = qobject_cast<PlanPage*>(place.page))
            settings.setValue(u"openFile"_s, plan->file());
        if (const auto* monitor = qobject_cast<MonitorPage*>(place.page))
            settings.setValue(u"openRun"_s, monitor->run());
    }
}

QStringList MainWindow::liveRuns() const {
    QStringList live;
    for (const QString& dir : m_seen_runs) {
        try {
            const RunState state = read_run_state(dir.toStdString());
            if (!is_over(state.state) && living_process(state)) live << dir;
        } catch (const Error&) {  // the run does not exist any more
        }
    }
    return live;
}

bool MainWindow::askAboutLiveRuns() {
    const QStringList live = liveRuns();
    const int restarts = m_session.keeper().restartsAhead();
    if (live.isEmpty() && restarts > 0) return askAboutRestarts(restarts);
    if (live.isEmpty()) return true;
    QMessageBox box(this);
    box.setObjectName(u"liveRunsBox"_s);
    box.setWindowTitle(tr("A run is at work"));
    box.setText(tr("%n run(s) are still training.", nullptr, int(live.size())));
    box.setInformativeText(
        tr("Left running, the training goes on without the window. Open it again under Runs."));
    QPushButton* leave = box.addButton(tr("Leave running"), QMessageBox::AcceptRole);
    QPushButton* stop = box.addButton(tr("Stop and save"), QMessageBox::DestructiveRole);
    QPushButton* stay = box.addButton(tr("Cancel"), QMessageBox::RejectRole);
    box.setDefaultButton(leave);
    box.setEscapeButton(stay);
    box.exec();
    if (box.clickedButton() == stop) {
        for (const QString& dir : live) {
            try {
                request_stop(RunDirectory{dir.toStdString()}, StopHow::FinishAndSave);
            } catch (const Error& error) {
                QMessageBox::warning(this, tr("Not stopped"), text_of(error));
                return false;
            }
        }
    }
    return box.clickedButton() != stay;
}

/// Asks before closing, because nothing else restarts these runs.
bool MainWindow::askAboutRestarts(int count) {
    QMessageBox box(this);
    box.setObjectName(u"restartsBox"_s);
    box.setWindowTitle(tr("Restarts end with this window"));
    box.setText(
        tr("%n run(s) over several nodes would not be started again after a failure.", nullptr, count));
    box.setInformativeText(tr("They go on without the window. One that fails meanwhile waits for Resume."));
    QPushButton* leave = box.addButton(tr("Close"), QMessageBox::AcceptRole);
    QPushButton* stay = box.addButton(tr("Cancel"), QMessageBox::RejectRole);
    box.setDefaultButton(leave);
    box.setEscapeButton(stay);
    box.exec();
    return box.clickedButton() == leave;
}

void MainWindow::closeEvent(QCloseEvent* event) {
    bool may = true;
    for (const Place& place : m_places) may = may && (!place.page || place.page->mayClose());
    if (!may || !askAboutLiveRuns()) {
        event->ignore();
        return;
    }
    saveState();
    event->accept();
}

void MainWindow::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange) setIcons();
    QMainWindow::changeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls() && event->mimeData()->urls().first().isLocalFile())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    openPath(event->mimeData()->urls().first().toLocalFile());
    event->acceptProposedAction();
}

}  // namespace ringmaster
