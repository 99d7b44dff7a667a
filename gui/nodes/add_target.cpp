#include "gui/nodes/add_target.h"

#include <QComboBox>
#include <QCompleter>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "engine/error.h"
#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/session/finding_words.h"
#include "launcher/ssh/aliases.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

enum Choice { kMachine, kSlurmHere, kSlurmThrough };

}  // namespace

AddTarget::AddTarget(QWidget* parent)
    : QWidget(parent),
      m_kind(new QComboBox),
      m_host(new QComboBox),
      m_add(new QPushButton(tr("Add"))),
      m_problem(mutedLabel()) {
    m_kind->setObjectName(u"targetKind"_s);
    m_kind->setAccessibleName(tr("Kind of target"));
    m_kind->addItems({tr("Machine over SSH"), tr("Slurm of this machine"), tr("Slurm through a login node")});
    m_host->setObjectName(u"targetHost"_s);
    m_host->setEditable(true);
    m_host->setInsertPolicy(QComboBox::NoInsert);
    m_host->setAccessibleName(tr("Machine"));
    m_host->setToolTip(tr("A host of ~/.ssh/config, or [user@]host[:port]"));
    m_host->lineEdit()->setPlaceholderText(tr("[user@]host[:port]"));
    m_host->completer()->setCompletionMode(QCompleter::PopupCompletion);
    m_host->completer()->setFilterMode(Qt::MatchContains);
    m_add->setObjectName(u"addTargetButton"_s);
    m_problem->setObjectName(u"addTargetProblem"_s);
    m_problem->setWordWrap(true);
    m_problem->hide();
    auto* row = new QHBoxLayout;
    row->setSpacing(space(0.5));
    row->addWidget(m_kind);
    row->addWidget(m_host, 1);
    row->addWidget(m_add);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(0.3));
    layout->addLayout(row);
    layout->addWidget(m_problem);
    connect(m_kind, &QComboBox::currentIndexChanged, this, &AddTarget::kindChanged);
    connect(m_host, &QComboBox::currentTextChanged, this, &AddTarget::hostChanged);
    connect(m_host->lineEdit(), &QLineEdit::returnPressed, this, &AddTarget::add);
    connect(m_add, &QPushButton::clicked, this, &AddTarget::add);
    kindChanged();
}

TargetKind AddTarget::kind() const {
    return m_kind->currentIndex() == kMachine ? TargetKind::Ssh : TargetKind::Slurm;
}

bool AddTarget::needsHost() const {
    return m_kind->currentIndex() != kSlurmHere;
}

void AddTarget::showEvent(QShowEvent* event) {
    readAliases();
    QWidget::showEvent(event);
}

/// Reads the names again, because ~/.ssh/config may have changed.
void AddTarget::readAliases() {
    const QString typed = m_host->currentText();
    const QSignalBlocker quiet(m_host);
    m_host->clear();
    for (const std::string& name : ssh_aliases()) m_host->addItem(QString::fromStdString(name));
    m_host->setCurrentIndex(-1);
    m_host->setEditText(typed);
}

void AddTarget::kindChanged() {
    m_host->setEnabled(needsHost());
    hostChanged();
}

void AddTarget::hostChanged() {
    m_problem->hide();
    m_add->setEnabled(!needsHost() || !m_host->currentText().trimmed().isEmpty());
}

void AddTarget::add() {
    if (!m_add->isEnabled()) return;
    try {
        const std::string host = needsHost() ? m_host->currentText().trimmed().toStdString() : std::string();
        const Target target = make_target(kind(), host);
        m_host->setEditText({});
        Q_EMIT wanted(target);
    } catch (const Error& problem) {
        m_problem->setTextFormat(Qt::PlainText);
        m_problem->setText(text_of(problem).simplified());
        m_problem->show();
        m_host->setFocus();
    }
}

}  // namespace ringmaster
