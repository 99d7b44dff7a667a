#include "gui/nodes/node_details.h"

#include <QClipboard>
#include <QEvent>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLabel>

#include "engine/events/event_log.h"
#include "gui/look/flow_layout.h"
#include "gui/look/scrolled.h"
#include "gui/nodes/node_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr double kLineEms = 1.3;  ///< minimum row height of a fact, in ems; enough for any writing system
constexpr double kNameEms = 9;    ///< width at which a fact's name wraps

}  // namespace

NodeDetails::NodeDetails(NodeChecks& checks, QWidget* parent)
    : Card({}, parent),
      m_checks(checks),
      m_banner(new Banner),
      m_check(new QPushButton(tr("Check again"))),
      m_cancel(new QPushButton(tr("Cancel"))),
      m_install(new QPushButton(tr("Install LibTorch"))),
      m_send(new QPushButton(tr("Send LibTorch"))),
      m_remove(new QPushButton(tr("Remove"))),
      m_copy(new QPushButton(tr("Copy next step"))),
      m_facts(new QWidget),
      m_grid(new QGridLayout(m_facts)) {
    setObjectName(u"nodeDetails"_s);
    m_banner->setObjectName(u"nodeBanner"_s);
    m_grid->setContentsMargins(0, space(0.2), space(0.5), 0);
    m_grid->setHorizontalSpacing(space(1));
    m_grid->setVerticalSpacing(space(0.3));
    m_grid->setColumnStretch(1, 1);
    body()->addWidget(m_banner);
    body()->addWidget(makeActions());
    body()->addWidget(scrolled(m_facts), 1);
    showRow(-1);
}

QWidget* NodeDetails::makeActions() {
    const std::pair<QPushButton*, QString> named[] = {
        {m_check, u"checkNodeButton"_s},         {m_cancel, u"cancelNodeButton"_s},
        {m_install, u"installLibTorchButton"_s}, {m_send, u"sendLibTorchButton"_s},
        {m_copy, u"copyNextButton"_s},           {m_remove, u"removeNodeButton"_s}};
    auto* actions = new QWidget;
    auto* row = new FlowLayout(space(0.4), actions);
    for (const auto& [button, name] : named) {
        button->setObjectName(name);
        row->addWidget(button);
    }
    m_remove->setToolTip(tr("Forget this target; nothing on the machine changes"));
    connect(m_check, &QPushButton::clicked, this, [this] { m_checks.check(m_row); });
    m_install->setToolTip(tr("That machine downloads 2.8 GB from PyPI into a folder of ours there"));
    m_send->setToolTip(
        tr("What the engine needs of this machine's LibTorch goes into a folder of ours there"));
    connect(m_install, &QPushButton::clicked, this,
            [this] { m_checks.check(m_row, CheckKind::InstallLibTorch); });
    connect(m_send, &QPushButton::clicked, this, [this] { m_checks.check(m_row, CheckKind::SendLibTorch); });
    connect(m_cancel, &QPushButton::clicked, this, [this] { m_checks.cancel(m_row); });
    connect(m_remove, &QPushButton::clicked, this, [this] { m_checks.remove(m_row); });
    connect(m_copy, &QPushButton::clicked, this, [this] {
        const SavedTarget& entry = m_checks.entry(m_row);
        if (entry.last) QGuiApplication::clipboard()->setText(nextWords(entry.last->node));
    });
    return actions;
}

void NodeDetails::showRow(int row) {
    m_row = row < m_checks.count() ? row : -1;
    setEnabled(m_row >= 0);
    setVisible(m_row >= 0);
    if (m_row >= 0) write();
}

void NodeDetails::tick() {
    if (m_row < 0) return;
    const SavedTarget& entry = m_checks.entry(m_row);
    setSubtitle(entry.last ? tr("checked %1").arg(ageWords(entry, unix_now())) : QString());
}

void NodeDetails::write() {
    const SavedTarget& entry = m_checks.entry(m_row);
    const CheckPhase phase = m_checks.phase(m_row);
    const NodeLook look = lookOf(entry, phase);
    setTitle(targetName(entry.target));
    tick();
    const bool is_known = phase == CheckPhase::Idle && entry.last;
    const QString next = is_known ? nextWords(entry.last->node) : QString();
    const bool lacks = is_known && entry.target.kind != TargetKind::Here && lacks_libtorch(entry.last->node);
    QString verdict = look.word;
    if (!verdict.isEmpty()) verdict[0] = verdict[0].toUpper();
    QString said = messageWords(m_checks, m_row);
    if (phase == CheckPhase::Idle && !entry.last)
        said =
            tr("Key, login, system, GPUs and who uses them, memory, disk, clock and LibTorch are looked at "
               "in seconds; nothing is installed.");
    //: a state, followed by what was found: "Ready: 32 cores, …"
    m_banner->say(look.tone, tr("%1:").arg(verdict), said, next);
    m_check->setText(entry.last ? tr("Check again") : tr("Check"));
    m_check->setVisible(phase == CheckPhase::Idle);
    m_cancel->setVisible(phase != CheckPhase::Idle);
    m_install->setVisible(lacks && entry.last->node.finding.code != "no-libtorch-no-pip");
    m_send->setVisible(lacks);
    m_copy->setVisible(!next.isEmpty() && !lacks);
    m_remove->setVisible(entry.target.kind != TargetKind::Here);
    writeFacts(entry);
}

void NodeDetails::writeFacts(const SavedTarget& entry) {
    while (QLayoutItem* item = m_grid->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (int row = 0; row < m_grid->rowCount(); ++row) m_grid->setRowStretch(row, 0);
    int row = 0;
    for (const auto& [name, value] : factWords(entry)) {
        auto* label = mutedLabel(name);
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        label->setMinimumWidth(std::min(label->fontMetrics().horizontalAdvance(name) + 1, space(kNameEms)));
        label->setMaximumWidth(std::max(label->minimumSizeHint().width(), space(kNameEms)));
        auto* said = new QLabel(value);
        said->setTextFormat(Qt::PlainText);
        said->setWordWrap(true);
        said->setTextInteractionFlags(Qt::TextSelectableByMouse);
        for (QLabel* each : {label, said}) each->setMinimumHeight(space(kLineEms));
        m_grid->addWidget(label, row, 0, Qt::AlignTop);  // next to the first line of a long value
        m_grid->addWidget(said, row, 1);
        ++row;
    }
    m_grid->setRowStretch(row, 1);
}

void NodeDetails::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && m_row >= 0) write();
    Card::changeEvent(event);
}

}  // namespace ringmaster
