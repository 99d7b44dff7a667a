#include "gui/runs/machine_dialog.h"

#include <QDialogButtonBox>
#include <QEvent>
#include <QProgressBar>

#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/nodes/node_words.h"
#include "gui/session/failure_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kProgressParts = 1000;

}  // namespace

MachineDialog::MachineDialog(Session& session, const QString& title, const QString& about,
                             const QString& action, QWidget* parent)
    : QDialog(parent),
      m_session(session),
      m_banner(new Banner),
      m_cancel(new QPushButton(tr("Cancel"))),
      m_go(primaryButton(action)),
      m_state(mutedLabel()),
      m_progress(new QProgressBar) {
    setWindowTitle(title);
    setMinimumWidth(space(28));
    auto* head = new QLabel(title);
    head->setFont(fontOf(Type::Title));
    head->setWordWrap(true);
    auto* what = mutedLabel(about);
    what->setWordWrap(true);
    m_banner->setObjectName(u"machineBanner"_s);
    m_banner->hide();
    m_state->setWordWrap(true);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress"));
    m_cancel->setObjectName(u"cancelButton"_s);
    m_cancel->setAutoDefault(false);
    m_go->setAutoDefault(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(1.4), space(1.2), space(1.4), space(1.2));
    layout->setSpacing(space(0.8));
    layout->addWidget(head);
    layout->addWidget(what);
    connect(m_cancel, &QPushButton::clicked, this, &MachineDialog::reject);
}

void MachineDialog::fill(const QList<QWidget*>& body) {
    auto* rows = static_cast<QVBoxLayout*>(layout());
    for (QWidget* widget : body) rows->addWidget(widget, widget == body.last() ? 1 : 0);
    rows->addWidget(m_progress);
    auto* buttons = twoButtons(m_go, m_cancel);
    auto* foot = new QHBoxLayout;
    foot->addWidget(m_state, 1);
    foot->addWidget(buttons);
    rows->addLayout(foot);
}

MachineDialog::~MachineDialog() {
    MachineDialog::giveUp();
}

void MachineDialog::startOver() {
    giveUp();
    m_given_up = std::make_shared<std::atomic<bool>>(false);
}

SshPerson MachineDialog::person() const {
    return m_session.person([flag = m_given_up] { return flag->load(); });
}

void MachineDialog::giveUp() {
    if (m_given_up) m_given_up->store(true);
    m_given_up.reset();
    delete m_job;
    m_busy = false;
}

void MachineDialog::begin(const QString& doing, Job::Work work, std::function<void(const QString&)> then) {
    m_busy = true;
    m_banner->hide();
    m_state->setText(doing);
    m_progress->setRange(0, 0);
    delete m_job;
    m_job = new Job(std::move(work), this);
    connect(m_job, &Job::progressed, this, [this](const QString& name, qint64 done, qint64 total) {
        if (total <= 0) return;
        m_progress->setRange(0, kProgressParts);
        m_progress->setValue(int(double(done) / double(total) * kProgressParts));
        //: %1 is a file's name, %2 and %3 are sizes
        m_state->setText(tr("%1: %2 of %3").arg(name, show::bytes(done), show::bytes(total)));
    });
    connect(m_job, &Job::finished, this, [this, then = std::move(then)](const QString& result) {
        end();
        then(result);
    });
    connect(m_job, &Job::failed, this, [this](const JobFailure& failure) {
        end();
        showFailure(failure);
    });
    connect(m_job, &Job::cancelled, this, &MachineDialog::end);
    m_job->start();
    showState();
}

void MachineDialog::end() {
    m_busy = false;
    showState();
}

void MachineDialog::showFailure(const JobFailure& failure) {
    const auto [what, next] = failureWords(failure);
    say(Tone::Error, tr("That did not work."), what, next);
}

void MachineDialog::say(Tone tone, const QString& verdict, const QString& why, const QString& next) {
    m_banner->clearActions();
    m_banner->say(tone, verdict, why, next);
    m_banner->show();
}

void MachineDialog::showState() {
    m_progress->setVisible(m_busy);
    if (!m_busy) m_state->clear();
}

bool MachineDialog::event(QEvent* event) {
    const bool taken = QDialog::event(event);
    if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest)
        setMinimumHeight(layout()->minimumHeightForWidth(width()));
    return taken;
}

void MachineDialog::reject() {
    giveUp();
    QDialog::reject();
}

}  // namespace ringmaster
