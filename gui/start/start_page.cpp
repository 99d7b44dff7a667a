#include "gui/start/start_page.h"

#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QMimeData>
#include <QPainter>
#include <algorithm>

#include "engine/error.h"
#include "gui/look/card.h"
#include "gui/look/card_grid.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/scrolled.h"
#include "gui/start/action_tile.h"
#include "gui/start/machine_card.h"
#include "gui/start/recent_runs.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr double kBesideEms = 48;  ///< minimum width at which the runs are next to the other cards

/// Covers the page while something is dragged over it.
class DropSheet : public QWidget {
  public:
    explicit DropSheet(const QString& text, QWidget* parent) : QWidget(parent), m_text(text) {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        hide();
    }

  protected:
    void paintEvent(QPaintEvent*) override {
        const Colours c = coloursOf(this);
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        QColor veil = mixed(c.window, c.accent, 0.1);
        veil.setAlphaF(0.9F);
        painter.fillRect(rect(), veil);
        painter.setPen(QPen(c.accent, 2, Qt::DashLine));
        const double margin = space(1);
        painter.drawRoundedRect(QRectF(rect()).adjusted(margin, margin, -margin, -margin), space(0.8),
                                space(0.8));
        painter.setPen(c.text);
        painter.setFont(fontOf(Type::Title));
        painter.drawText(rect().adjusted(space(2), 0, -space(2), 0), Qt::AlignCenter | Qt::TextWordWrap,
                         m_text);
    }

  private:
    QString m_text;
};

/// Returns a label that takes the place of an empty list.
QLabel* emptyLabel(const QString& text) {
    QLabel* label = mutedLabel(text);
    label->setWordWrap(true);
    return label;
}

bool looksLikeRun(const QString& dir) {
    return QFileInfo::exists(dir + u"/run.json"_s) || QFileInfo::exists(dir + u"/plan.json"_s);
}

QString droppedFile(const QMimeData* data) {
    if (!data->hasUrls()) return {};
    for (const QUrl& url : data->urls())
        if (url.isLocalFile()) return url.toLocalFile();
    return {};
}

}  // namespace

StartPage::StartPage(Session& session, QWidget* parent)
    : Page(parent),
      m_session(session),
      m_reader(session.places().runs_dir),
      m_runs(new RecentRunsModel(this)),
      m_runList(new TwoLineList),
      m_noRuns(
          emptyLabel(tr("No runs yet. What you launch appears here, and stays when the window is closed."))),
      m_noFiles(emptyLabel(tr("No file yet. Configurations that you open are listed here."))),
      m_files(new QVBoxLayout),
      m_machine(new MachineCard(session)) {
    setObjectName(u"startPage"_s);
    setAcceptDrops(true);
    auto* others = new QWidget;
    auto* grid = new CardGrid(20, 2, others);
    grid->addCard(m_machine);
    grid->addCard(makeFilesCard());
    m_below = new QHBoxLayout;
    m_below->setSpacing(space(0.7));
    m_below->addWidget(makeRunsCard(), 4);
    m_below->addWidget(others, 5, Qt::AlignTop);
    auto* inside = new QWidget;
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(pageMargins());
    column->setSpacing(space(0.9));
    column->addWidget(makeActions());
    column->addLayout(m_below);
    column->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(scrolled(inside));
    m_dropSheet =
        new DropSheet(tr("Drop a configuration (YAML) to plan it, or a run's folder to watch it."), this);
    connect(&m_reader, &RunsReader::arrived, this, &StartPage::showRuns);
    connect(&m_session, &Session::runsChanged, &m_reader, &RunsReader::refresh);
    connect(&m_session, &Session::recentFilesChanged, this, &StartPage::showFiles);
    showFiles();
}

QWidget* StartPage::makeActions() {
    auto* open =
        new ActionTile(u"open"_s, tr("Open a configuration"),
                       tr("An axolotl YAML: see what it needs before anything runs. Or drop the file here."));
    auto* example =
        new ActionTile(u"example"_s, tr("Try the example"),
                       tr("A small model that learns to write Python, on this machine, in minutes."));
    auto* attach_to = new ActionTile(u"attach"_s, tr("Attach to a run"),
                                     tr("Watch one that is at work, or look through one that is over."));
    open->setStrong(true);
    open->setObjectName(u"openButton"_s);
    open->setToolTip(QKeySequence(QKeySequence::Open).toString(QKeySequence::NativeText));
    example->setObjectName(u"exampleButton"_s);
    attach_to->setObjectName(u"attachButton"_s);
    connect(open, &ActionTile::clicked, &m_session, &Session::chooseConfig);
    connect(example, &ActionTile::clicked, &m_session, &Session::tryExample);
    connect(attach_to, &ActionTile::clicked, this, &StartPage::attach);
    auto* row = new QWidget;
    auto* grid = new CardGrid(13, 3, row);
    grid->addCard(open);
    grid->addCard(example);
    grid->addCard(attach_to);
    return row;
}

Card* StartPage::makeRunsCard() {
    auto* card = new Card(tr("Recent runs"));
    m_runList->setObjectName(u"recentRuns"_s);
    m_runList->setAccessibleName(tr("Recent runs"));
    m_runList->setModel(m_runs);
    m_runList->hide();
    m_noRuns->hide();
    card->body()->addWidget(m_runList);
    card->body()->addWidget(m_noRuns);
    card->body()->addStretch(1);
    connect(m_runList, &TwoLineList::chosen, &m_session, &Session::openRun);
    return card;
}

Card* StartPage::makeFilesCard() {
    auto* card = new Card(tr("Recent files"));
    card->body()->addLayout(m_files);
    card->body()->addWidget(m_noFiles);
    card->body()->addStretch(1);
    return card;
}

void StartPage::showRuns() {
    const int room = height() - space(11);  // height that remains for the card's rows
    m_runs->setRows(m_reader.rows(), size_t(std::clamp(room / std::max(1, m_runList->rowHeight()), 6, 40)));
    const bool some = m_runs->rowCount() > 0;
    m_runList->setVisible(some);
    m_noRuns->setVisible(!some);
    m_runList->updateGeometry();
}

void StartPage::showFiles() {
    delete m_fileRows;
    m_fileRows = new QWidget;
    auto* grid = new QGridLayout(m_fileRows);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(space(0.6));
    grid->setVerticalSpacing(space(0.15));
    grid->setColumnStretch(1, 1);
    const QStringList files = m_session.recentFiles();
    for (const QString& file : files) {
        auto* name = quietButton(QFileInfo(file).fileName());
        name->setObjectName(u"recentFile"_s);
        name->setToolTip(file);
        name->setAccessibleName(tr("Open %1").arg(file));
        connect(name, &QPushButton::clicked, this, [this, file] { Q_EMIT m_session.openConfig(file); });
        const QString at = QFileInfo(file).absolutePath();
        auto* folder = new ElidedLabel(at == QDir::homePath() ? QString() : show::path(at));
        folder->setFont(fontOf(Type::Small));
        folder->setForegroundRole(QPalette::PlaceholderText);
        const int row = grid->rowCount();
        grid->addWidget(name, row, 0, Qt::AlignLeft);
        grid->addWidget(folder, row, 1);
    }
    m_files->addWidget(m_fileRows);
    m_noFiles->setVisible(files.isEmpty());
}

bool StartPage::settled() const {
    return m_reader.hasRead() && m_machine->isKnown();
}

void StartPage::attach() {
    const QString dir = QFileDialog::getExistingDirectory(
        this, tr("Attach to a run"), QString::fromStdString(m_session.places().runs_dir.string()));
    if (!dir.isEmpty()) openPath(dir);
}

void StartPage::openPath(const QString& path) {
    const QFileInfo info(path);
    if (info.isDir() && looksLikeRun(path)) {
        Q_EMIT m_session.openRun(info.absoluteFilePath());
    } else if (info.isDir()) {
        Q_EMIT m_session.notice(tr("%1 is not a run's folder: it has no run.json.").arg(path));
    } else {
        Q_EMIT m_session.openConfig(info.absoluteFilePath());
    }
}

void StartPage::appear() {
    m_reader.setActive(true);
}

void StartPage::disappear() {
    m_reader.setActive(false);
}

void StartPage::resizeEvent(QResizeEvent* event) {
    Page::resizeEvent(event);
    m_below->setDirection(width() < space(kBesideEms) ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    if (m_reader.hasRead()) showRuns();
}

void StartPage::setDragged(bool dragged) {
    m_dropSheet->setGeometry(rect());
    m_dropSheet->raise();
    m_dropSheet->setVisible(dragged);
}

void StartPage::dragEnterEvent(QDragEnterEvent* event) {
    if (droppedFile(event->mimeData()).isEmpty()) return;
    event->acceptProposedAction();
    setDragged(true);
}

void StartPage::dragLeaveEvent(QDragLeaveEvent*) {
    setDragged(false);
}

void StartPage::dropEvent(QDropEvent* event) {
    setDragged(false);
    const QString path = droppedFile(event->mimeData());
    if (path.isEmpty()) return;
    event->acceptProposedAction();
    openPath(path);
}

}  // namespace ringmaster
