#include "gui/plan/plan_board.h"

#include <QEvent>
#include <QScrollBar>
#include <QVBoxLayout>
#include <cmath>

#include "gui/look/card_grid.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/plan/advice_card.h"
#include "gui/plan/attention_card.h"
#include "gui/plan/bars.h"
#include "gui/plan/batch_card.h"
#include "gui/plan/context_card.h"
#include "gui/plan/experts_card.h"
#include "gui/plan/keys_card.h"
#include "gui/plan/memory_card.h"
#include "gui/plan/mesh_view.h"
#include "gui/plan/sequence_view.h"
#include "gui/plan/verdict_words.h"
#include "gui/session/mesh_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

PlanBoard::PlanBoard(QWidget* parent)
    : QScrollArea(parent),
      m_verdict(new Banner),
      m_context(new ContextCard),
      m_batch(new BatchCard),
      m_mesh_card(new Card(tr("Mesh"))),
      m_mesh(new MeshView),
      m_mesh_note(mutedLabel(tr("The product of the sizes is not the number of ranks."))),
      m_sequence_card(new Card(tr("Who holds which tokens"))),
      m_sequence(new SequenceView),
      m_sequence_note(mutedLabel()),
      m_memory(new MemoryCard),
      m_time_card(new Card(tr("A step"))),
      m_time(new StackedBar),
      m_time_legend(new BarLegend),
      m_time_note(mutedLabel()),
      m_attention(new AttentionCard),
      m_experts(new ExpertsCard),
      m_advice(new AdviceCard),
      m_keys(new KeysCard) {
    setObjectName(u"planBoard"_s);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    m_verdict->setObjectName(u"verdictBanner"_s);
    for (QLabel* note : {m_mesh_note, m_sequence_note, m_time_note}) note->setWordWrap(true);
    m_mesh_card->body()->addWidget(m_mesh);
    m_mesh_card->body()->addWidget(m_mesh_note);
    m_mesh_card->body()->addStretch(1);
    m_sequence_card->body()->addWidget(m_sequence);
    m_sequence_card->body()->addWidget(m_sequence_note);
    m_sequence_card->body()->addStretch(1);
    m_time->setAccessibleName(tr("Time of a step"));
    m_time_legend->setAccessibleName(tr("Legend of the time"));
    m_time_card->body()->addWidget(m_time);
    m_time_card->body()->addWidget(m_time_legend);
    m_time_card->body()->addWidget(m_time_note);
    m_time_card->body()->addStretch(1);

    auto* inside = new QWidget;
    inside->setObjectName(u"planCards"_s);
    auto* grid = new CardGrid(21, 2);
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(0, 0, 0, 0);
    column->addLayout(grid);
    column->addStretch(1);  // free space stays below the cards
    grid->addCard(m_verdict, 2);
    grid->addCard(m_context);
    grid->addCard(m_batch);
    grid->addCard(m_mesh_card);
    grid->addCard(m_sequence_card);
    grid->addCard(m_memory, 2);
    grid->addCard(m_time_card, 2);
    grid->addCard(m_attention, 2);
    grid->addCard(m_experts, 2);
    grid->addCard(m_advice, 2);
    grid->addCard(m_keys, 2);
    setWidget(inside);
    viewport()->setAutoFillBackground(false);
    inside->setAutoFillBackground(false);
    connectCards();
}

void PlanBoard::connectCards() {
    connect(m_context, &ContextCard::sizeWanted, this, [this](int size) {
        m_context->setPlan(m_answer.plan);  // resets the button, because the text may refuse the new value
        wantOne("context_parallel_size", std::to_string(size));
    });
    connect(m_batch, &BatchCard::accumulationWanted, this,
            [this](qint64 steps) { wantOne("gradient_accumulation_steps", std::to_string(steps)); });
    connect(m_memory, &MemoryCard::lengthWanted, this,
            [this](qint64 length) { wantOne("sequence_len", std::to_string(length)); });
    connect(m_memory, &MemoryCard::lengthTried, this, &PlanBoard::lengthTried);
    connect(m_memory, &MemoryCard::settingsWanted, this, &PlanBoard::settingsWanted);
    connect(m_advice, &AdviceCard::settingsWanted, this, &PlanBoard::settingsWanted);
}

void PlanBoard::wantOne(const std::string& key, const std::string& value) {
    Q_EMIT settingsWanted({{key, value}});
}

void PlanBoard::setPlan(const PlanAnswer& answer, bool machine_known) {
    m_answer = answer;
    m_machine_known = machine_known;
    writeVerdict();
    const bool readable = answer.reading.readable;
    m_shows_plan = m_shows_plan || readable;
    // While a word is typed the text may not be valid YAML: the old content stays, disabled.
    for (QWidget* card : cards()) {
        card->setVisible(m_shows_plan);
        card->setEnabled(readable);
    }
    if (!readable) return;
    m_context->setPlan(answer.plan);
    m_batch->setPlan(answer.plan);
    writeDrawings();
    m_memory->setPlan(answer.plan, answer.what_if);
    writeTime();
    m_attention->setPlan(answer.plan);
    m_experts->setVisible(m_experts->setPlan(answer.plan));
    m_keys->setPlan(answer.plan);
}

std::vector<QWidget*> PlanBoard::cards() const {
    return {m_context,   m_batch,     m_mesh_card, m_sequence_card, m_memory,
            m_time_card, m_attention, m_experts,   m_advice,        m_keys};
}

void PlanBoard::clear() {
    m_shows_plan = false;
    m_verdict->say(Tone::Plain, tr("Planning\u2026"));
    for (QWidget* card : cards()) card->hide();
    verticalScrollBar()->setValue(0);
}

void PlanBoard::writeVerdict() {
    const VerdictWords words = verdict_words(m_answer.plan, m_machine_known);
    m_verdict->say(words.tone, words.verdict, words.why, words.next);
}

void PlanBoard::writeDrawings() {
    const Plan& plan = m_answer.plan;
    const bool has_mesh = plan.mesh.ranks() == plan.ranks;
    m_mesh->setVisible(has_mesh);
    m_mesh_note->setVisible(!has_mesh);
    if (has_mesh) m_mesh->setMesh(plan.mesh, plan.nodes);
    QString words = has_mesh ? mesh_words(plan.mesh, plan.zero_stage) : QString();
    if (has_mesh && plan.nodes > 1)
        words += u" \u00B7 "_s + tr("%n node(s) × %1", nullptr, plan.nodes)
                                     .arg(tr("%n rank(s)", nullptr, plan.ranks / plan.nodes));
    if (has_mesh && m_mesh->ringsCrossNodes()) words += u" \u00B7 "_s + tr("rings cross nodes");
    m_mesh_card->setSubtitle(words);

    m_sequence->setPlan(plan);
    m_sequence->setVisible(m_sequence->whyNot().isEmpty());
    m_sequence_note->setVisible(!m_sequence->whyNot().isEmpty());
    m_sequence_note->setText(m_sequence->whyNot());
    QString layout;
    if (plan.context_parallel.size > 1) layout = QString::fromLatin1(to_string(plan.context_parallel.layout));
    if (m_sequence->imbalance() > 1.005)
        layout += u" \u00B7 "_s + tr("the busiest rank works %1 \u00D7 the mean")
                                      .arg(show::number(std::round(m_sequence->imbalance() * 100) / 100));
    else if (plan.context_parallel.size > 1 && m_sequence->whyNot().isEmpty())
        layout += u" \u00B7 "_s + tr("equal work");
    m_sequence_card->setSubtitle(layout);
}

void PlanBoard::writeTime() {
    const Plan& plan = m_answer.plan;
    const bool known = plan.time && plan.time->step_s > 0;
    m_time->setVisible(known);
    m_time_legend->setVisible(known);
    if (!known) {
        m_time_card->setSubtitle({});
        m_time_note->setText(plan.model && !plan.ok() ? tr("Not known until the problems above are solved.")
                                                      : tr("The time of a step is not known."));
        return;
    }
    const Colours c = coloursOf(this);
    const StepTime& time = *plan.time;
    std::vector<BarPart> parts = {
        {tr("compute"), show::duration(time.compute_s), time.compute_s, timeColour(TimePart::Compute, c)}};
    if (time.exposed_comm_s > 0)
        parts.push_back({plan.ranks > 1 ? tr("exposed communication") : tr("waiting for offloaded data"),
                         show::duration(time.exposed_comm_s), time.exposed_comm_s,
                         timeColour(TimePart::ExposedCommunication, c)});
    m_time->setParts(parts);
    m_time_legend->setParts(parts);
    QString head = show::duration(time.step_s);
    if (plan.batch.tokens_per_step)
        head += u" \u00B7 "_s +
                tr("%1 tokens/s").arg(show::rate(double(*plan.batch.tokens_per_step) / time.step_s));
    m_time_card->setSubtitle(head);
    const double hidden = std::max(0.0, time.comm_s - time.exposed_comm_s);
    QString note =
        time.measured ? tr("From measured speeds.") : tr("From assumed speeds, until they are measured.");
    if (hidden > 0)
        note =
            show::sentences({(plan.ranks > 1 ? tr("Computation hides another %1 of communication.")
                                             : tr("Computation hides another %1 of copying offloaded data."))
                                 .arg(show::duration(hidden)),
                             note});
    m_time_note->setText(note);
}

void PlanBoard::setAdvice(const Advice& advice) {
    m_advice->setAdvice(advice, m_answer.plan);
    m_memory->setLongest(advice.longest_sequence_len, advice.longer_by);
}

void PlanBoard::setAdvicePending() {
    m_advice->setPending();
}

void PlanBoard::changeEvent(QEvent* event) {
    QScrollArea::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !m_keys) return;
    writeTime();
    m_batch->setPlan(m_answer.plan);
    m_experts->setPlan(m_answer.plan);
}

}  // namespace ringmaster
