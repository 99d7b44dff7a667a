#include "gui/start/machine_card.h"

#include <QDesktopServices>
#include <QDir>
#include <QEvent>
#include <QFileInfo>
#include <QGridLayout>
#include <QPainter>
#include <QUrl>
#include <QtConcurrent/QtConcurrentRun>

#include "gui/look/look.h"
#include "gui/look/numbers.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

/// Draws a check's state as a tick, a dot or a cross, and gives it to screen readers as a word.
class StateDot : public QWidget {
  public:
    StateDot(CheckState state, const QString& word) : m_state(state) {
        setAccessibleName(word);
        setToolTip(word);
        setFixedSize(space(1), lineHeight(font()));
    }

  protected:
    void paintEvent(QPaintEvent*) override {
        const Colours c = coloursOf(this);
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const double side = QFontMetricsF(font()).height() * 0.5;
        const QRectF box((width() - side) / 2, (height() - side) / 2, side, side);
        const QColor colour = m_state == CheckState::Ok     ? c.good
                              : m_state == CheckState::Note ? c.muted
                                                            : c.error;
        painter.setPen(QPen(colour, std::max(1.5, side * 0.17), Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        if (m_state == CheckState::Ok) {
            painter.drawPolyline(QPolygonF({QPointF(box.left(), box.center().y()),
                                            QPointF(box.left() + side * 0.36, box.bottom() - side * 0.12),
                                            QPointF(box.right(), box.top() + side * 0.1)}));
        } else if (m_state == CheckState::Note) {
            painter.setBrush(colour);
            painter.drawEllipse(box.center(), side * 0.16, side * 0.16);
        } else {
            painter.drawLine(box.topLeft(), box.bottomRight());
            painter.drawLine(box.topRight(), box.bottomLeft());
        }
    }

  private:
    CheckState m_state;
};

QLabel* wrapped(const QString& text, bool muted) {
    QLabel* label = muted ? mutedLabel(text) : new QLabel(text);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

}  // namespace

QWidget* folderLink(const QString& path, QWidget* parent) {
    auto* link = quietButton({}, parent);
    const QString shown = show::path(QDir(path).absolutePath());
    link->setText(QFontMetrics(link->font()).elidedText(shown, Qt::ElideMiddle, space(15)));
    link->setStyleSheet(u"padding: 0"_s);  // aligns with the text above
    link->setToolTip(path);
    link->setAccessibleName(MachineCard::tr("Open the folder %1").arg(path));
    QObject::connect(link, &QPushButton::clicked, link, [path] {
        QString folder = path;  // opens the nearest existing folder if this one is not written yet
        while (!QFileInfo(folder).isDir() && folder != QFileInfo(folder).absolutePath())
            folder = QFileInfo(folder).absolutePath();
        QDesktopServices::openUrl(QUrl::fromLocalFile(folder));
    });
    return link;
}

MachineCard::MachineCard(Session& session, QWidget* parent)
    : Card(tr("This machine"), parent),
      m_session(session),
      m_wait(mutedLabel(tr("Looking at this machine…"))) {
    setObjectName(u"machineCard"_s);
    body()->addWidget(m_wait);
    body()->addStretch(1);
    connect(&m_watcher, &QFutureWatcherBase::finished, this, [this] { show(m_watcher.result()); });
    connect(&m_session, &Session::machineKnown, this, &MachineCard::refresh);
    refresh();
}

void MachineCard::refresh() {
    if (!m_session.machine() || m_watcher.isRunning()) return;
    m_watcher.setFuture(QtConcurrent::run([machine = *m_session.machine(), places = m_session.places()] {
        try {
            return machine_facts(machine, places);
        } catch (const std::exception&) {  // facts that cannot be read stay unknown
            MachineFacts facts;
            facts.machine = machine;
            return facts;
        }
    }));
}

void MachineCard::show(const MachineFacts& facts) {
    m_facts = facts;
    build();
}

void MachineCard::build() {
    m_wait->hide();
    delete m_rows;
    m_rows = new QWidget;
    auto* grid = new QGridLayout(m_rows);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(space(0.5));
    grid->setVerticalSpacing(space(0.35));
    grid->setColumnStretch(2, 1);
    for (const MachineCheck& check : machine_checks(*m_facts)) addRow(check);
    body()->insertWidget(0, m_rows);
    setSubtitle(QString::fromStdString(m_facts->machine.host));
}

void MachineCard::addRow(const MachineCheck& check) {
    auto* grid = static_cast<QGridLayout*>(m_rows->layout());
    const int row = grid->rowCount();
    const CheckWords words = wordsOf(check, *m_facts);
    const QString state = check.state == CheckState::Ok     ? tr("fine")
                          : check.state == CheckState::Note ? tr("worth knowing")
                                                            : tr("missing");
    grid->addWidget(new StateDot(check.state, state), row, 0, Qt::AlignTop);
    auto* topic = new QLabel(words.topic);
    topic->setForegroundRole(QPalette::PlaceholderText);
    topic->setContentsMargins(0, 0, space(0.5), 0);
    grid->addWidget(topic, row, 1, Qt::AlignTop);
    auto* what = new QVBoxLayout;
    what->setSpacing(0);
    QLabel* found = wrapped(words.what, false);
    for (QLabel* label : {topic, found})  // keeps both level if only one contains kanji
        label->setMinimumHeight(lineHeight(label->font()));
    what->addWidget(found);
    if (!words.fix.isEmpty()) what->addWidget(wrapped(words.fix, true));
    if (check.topic == Topic::Python && check.state != CheckState::Ok) {
        auto* button = new QPushButton(tr("Set up"));
        button->setObjectName(u"setUpButton"_s);
        button->setAccessibleName(tr("Set up LibTorch"));
        connect(button, &QPushButton::clicked, &m_session, &Session::setUpRequested);
        what->addSpacing(space(0.3));
        what->addWidget(button, 0, Qt::AlignLeft);
    }
    if (check.topic == Topic::Engine && check.state != CheckState::Missing) {
        auto* button = new QPushButton(tr("Measure its speed"));
        button->setObjectName(u"measureButton"_s);
        button->setToolTip(
            tr("Takes about 20 seconds. Plan then calculates times from what was measured. Stop other "
               "computations first."));
        connect(button, &QPushButton::clicked, &m_session, &Session::measureRequested);
        what->addSpacing(space(0.3));
        what->addWidget(button, 0, Qt::AlignLeft);
    }
    if (check.topic == Topic::RunsDisk || check.topic == Topic::CacheDisk) {
        const auto& disk = check.topic == Topic::RunsDisk ? m_facts->runs : m_facts->cache;
        QWidget* link = folderLink(QString::fromStdString(disk.folder.string()));
        link->setObjectName(check.topic == Topic::RunsDisk ? u"runsFolder"_s : u"cacheFolder"_s);
        what->addWidget(link, 0, Qt::AlignLeft);
    }
    grid->addLayout(what, row, 2);
}

void MachineCard::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange && m_facts) build();
    Card::changeEvent(event);
}

}  // namespace ringmaster
