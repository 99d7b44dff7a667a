#include "gui/queue/service_switch.h"

#include <QCheckBox>
#include <QVBoxLayout>
#include <QtConcurrent/QtConcurrentRun>
#include <utility>

#include "engine/error.h"
#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

ServiceSwitch::ServiceSwitch(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_switch(new QCheckBox(tr("Go on by itself after a restart of the machine"))),
      m_note(mutedLabel()),
      m_problem(new Banner) {
    m_switch->setObjectName(u"queueServiceSwitch"_s);
    m_switch->setToolTip(
        tr("A user service of systemd; in a terminal: %1").arg(u"ringmaster queue service on"_s));
    m_note->setObjectName(u"queueServiceNote"_s);
    m_note->setWordWrap(true);
    m_note->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_note->hide();
    m_problem->setObjectName(u"queueServiceProblem"_s);
    m_problem->hide();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(0.3));
    for (QWidget* part : std::initializer_list<QWidget*>{m_switch, m_note, m_problem})
        layout->addWidget(part);
    connect(m_switch, &QCheckBox::clicked, this, [this](bool on) {
        if (m_change == Change::None)
            ask(on ? Change::On : Change::Off);
        else
            m_switch->setChecked(!on);  // systemd is still applying the previous change
    });
    connect(&m_watcher, &QFutureWatcherBase::finished, this, &ServiceSwitch::take);
}

ServiceSwitch::~ServiceSwitch() {
    m_watcher.waitForFinished();
}

void ServiceSwitch::refresh() {
    if (!m_watcher.isRunning()) ask(Change::None);
}

/// Makes the change on another thread, then reads the state.
void ServiceSwitch::ask(Change change) {
    m_change = change;
    m_watcher.setFuture(QtConcurrent::run([change, places = m_session.places()] {
        Answer answer;
        try {
            if (change == Change::On) switch_queue_service_on(places);
            if (change == Change::Off) switch_queue_service_off();
        } catch (const Error& refused) {
            answer.problem = message_of(refused);
        }
        answer.service = queue_service();
        return answer;
    }));
}

void ServiceSwitch::take() {
    const Answer answer = m_watcher.result();
    const Change change = std::exchange(m_change, Change::None);
    m_switch->setChecked(answer.service.is_on);
    const bool may_end = answer.service.is_on && !answer.service.lingers.value_or(false);
    m_note->setText(
        may_end
            ? tr("The service begins when you log in, and runs that it has started end when you log out. To "
                 "start it at boot and keep its runs: %1")
                  .arg(u"loginctl enable-linger"_s)
            : QString());
    m_note->setVisible(may_end);
    if (change == Change::None) return;
    if (!answer.problem.isEmpty())
        m_problem->say(
            Tone::Error,
            change == Change::On ? tr("The service could not be switched on.")
                                 : tr("The service could not be switched off."),
            answer.problem,
            tr("Nothing was changed. After a restart of the machine, open Ringmaster once: the queue "
               "then goes on."));
    m_problem->setVisible(!answer.problem.isEmpty());
}

}  // namespace ringmaster
