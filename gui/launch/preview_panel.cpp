#include "gui/launch/preview_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/session/failure_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kSoonMs = 250;  ///< delay after the last change

}  // namespace

PreviewPanel::PreviewPanel(Session& session, const Request& request, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_request(request),
      m_button(new QPushButton),
      m_state(mutedLabel()),
      m_text(new QPlainTextEdit),
      m_problem(new Banner) {
    auto* title = new QLabel(tr("Exactly what is started"));
    title->setFont(fontOf(Type::Section));
    m_button->setObjectName(u"showPreviewButton"_s);
    m_state->setObjectName(u"previewState"_s);
    m_problem->setObjectName(u"previewProblem"_s);
    m_problem->hide();
    m_text->setObjectName(u"previewText"_s);
    m_text->setReadOnly(true);
    m_text->setFont(fontOf(Type::Code));
    m_text->setWordWrapMode(
        QTextOption::WrapAtWordBoundaryOrAnywhere);  // long lines wrap rather than being cut off
    m_text->setTabChangesFocus(true);
    m_text->setAccessibleName(title->text());
    m_text->setMinimumHeight(space(5.5));
    m_text->setSizePolicy(QSizePolicy::Expanding,
                          QSizePolicy::Ignored);  // the preview shrinks before the form scrolls
    auto* head = new QHBoxLayout;
    head->setSpacing(space(0.6));
    head->addWidget(title);
    head->addWidget(m_state, 1);
    head->addWidget(m_button);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(0.4));
    layout->addLayout(head);
    layout->addWidget(m_problem);
    layout->addWidget(m_text, 1);
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMs);
    connect(&m_soon, &QTimer::timeout, this, &PreviewPanel::begin);
    connect(m_button, &QPushButton::clicked, this, &PreviewPanel::begin);
    showState();
}

PreviewPanel::~PreviewPanel() {
    giveUp();
}

/// Cancels the work in progress and drops its result.
void PreviewPanel::giveUp() {
    m_soon.stop();
    if (m_given_up) m_given_up->store(true);
    m_given_up.reset();
    m_reached.reset();
    delete m_job;
    m_shown = m_busy = false;
}

void PreviewPanel::setChoice(const std::optional<LaunchChoice>& choice) {
    if (choice == m_choice) return;
    giveUp();
    m_choice = choice;
    m_problem->hide();
    if (choice && choice->to.nodes.empty()) m_soon.start();
    showState();
    Q_EMIT changed();
}

void PreviewPanel::begin() {
    if (!m_choice || m_busy) return;
    giveUp();
    m_busy = true;
    m_problem->hide();
    m_given_up = std::make_shared<std::atomic<bool>>(false);
    m_reached = std::make_shared<std::shared_ptr<RunBackend>>();
    LaunchOrder order;
    order.places = m_session.places();
    order.request = m_request;
    order.choice = *m_choice;
    order.person = m_session.person([flag = m_given_up] { return flag->load(); });
    m_job = new Job(previewWork(order, m_reached), this);
    connect(m_job, &Job::finished, this, &PreviewPanel::showText);
    connect(m_job, &Job::failed, this, &PreviewPanel::showFailure);
    m_job->start();
    showState();
    Q_EMIT changed();
}

void PreviewPanel::showText(const QString& text) {
    m_busy = false;
    m_shown = true;
    m_text->setPlainText(text);
    showState();
    Q_EMIT changed();
}

void PreviewPanel::showFailure(const JobFailure& failure) {
    m_busy = false;
    const auto [what, next] = failureWords(failure);
    m_problem->say(Tone::Error, tr("This cannot be launched."), what, next);
    m_problem->show();
    showState();
    Q_EMIT changed();
}

void PreviewPanel::showState() {
    const bool elsewhere = m_choice && !m_choice->to.nodes.empty();
    m_button->setVisible(elsewhere && !m_busy);
    m_button->setEnabled(m_choice.has_value());
    m_button->setText(m_shown ? tr("Show again") : tr("Connect and show"));
    if (!m_shown) m_text->clear();
    m_text->setPlaceholderText(m_busy      ? QString()
                               : elsewhere ? tr("The machines are asked before it can be shown.")
                               : m_choice  ? QString()
                                           : tr("Nothing can be started yet."));
    m_state->setText(m_busy ? (elsewhere ? tr("connecting…") : tr("planning…")) : QString());
}

QString PreviewPanel::offer() const {
    return m_button->isHidden() || m_shown || !m_problem->isHidden() ? QString() : m_button->text();
}

int PreviewPanel::hiddenHeight() const {
    const int lines = int(m_text->document()->size().height()) * m_text->fontMetrics().lineSpacing();
    const int whole = lines + int(2 * m_text->document()->documentMargin());
    return m_shown ? std::max(0, whole - m_text->viewport()->height()) : 0;
}

std::shared_ptr<RunBackend> PreviewPanel::takeReached() {
    if (!m_shown || !m_reached) return nullptr;
    m_given_up.reset();  // so that giveUp() does not cancel the sessions of these machines
    return std::exchange(*m_reached, nullptr);
}

}  // namespace ringmaster
