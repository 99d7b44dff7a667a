#include "gui/monitor/samples_card.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <algorithm>

#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/side_by_side.h"
#include "gui/session/failure_words.h"
#include "gui/session/job.h"
#include "launcher/rows/ask_run.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr double kLeastHeight = 4, kMostHeight = 18;
constexpr int kLongestPrompt = 2000;

SideText textOf(const SamplesByStep& samples, qlonglong step, int prompt) {
    const auto at = samples.find(step);
    if (at == samples.end() || !at->second.contains(prompt)) return {{}, SamplesCard::tr("no sample")};
    const Sample& sample = at->second.at(prompt);
    return {QString::fromStdString(sample.text),
            sample.stopped ? QString() : SamplesCard::tr("cut at the token limit")};
}

}  // namespace

SamplesCard::SamplesCard(Session& session, QWidget* parent)
    : Card(tr("Samples"), parent),
      m_session(session),
      m_earlier(new QComboBox),
      m_later(new QComboBox),
      m_texts(new SideBySide),
      m_none(mutedLabel(tr("No samples yet. Type a prompt below, or name some in the configuration under "
                           "sample_prompts."))),
      m_question(new QWidget),
      m_prompt(new QLineEdit),
      m_ask(new QPushButton(tr("Write now"))) {
    setObjectName(u"samplesCard"_s);
    setSubtitle(tr("what the model writes while it trains"));
    m_earlier->setObjectName(u"earlierSample"_s);
    m_earlier->setAccessibleName(tr("Step of the samples on the left"));
    m_later->setObjectName(u"laterSample"_s);
    m_later->setAccessibleName(tr("Step of the samples on the right"));
    m_texts->setObjectName(u"sampleTexts"_s);
    m_texts->setAccessibleName(tr("Samples"));
    m_texts->fitHeight(kLeastHeight, kMostHeight);
    for (QComboBox* box : {m_earlier, m_later}) {
        box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
        box->setToolTip(tr("Show the samples of another step"));
        addHeaderWidget(box);
        connect(box, &QComboBox::currentIndexChanged, this, &SamplesCard::write);
    }
    m_none->setObjectName(u"noSamples"_s);
    m_none->setWordWrap(true);
    body()->addWidget(m_none);
    body()->addWidget(m_texts);
    m_prompt->setObjectName(u"askEdit"_s);
    m_prompt->setAccessibleName(tr("Prompt"));
    m_prompt->setPlaceholderText(tr("A prompt that the model continues after its present step"));
    m_prompt->setMaxLength(kLongestPrompt);
    m_ask->setObjectName(u"askButton"_s);
    m_ask->setEnabled(false);
    auto* row = new QHBoxLayout(m_question);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(m_prompt, 1);
    row->addWidget(m_ask);
    body()->addWidget(m_question);
    m_question->hide();
    connect(m_prompt, &QLineEdit::textChanged, this,
            [this](const QString& text) { m_ask->setEnabled(!text.isEmpty() && m_prompt->isEnabled()); });
    connect(m_prompt, &QLineEdit::returnPressed, this, &SamplesCard::ask);
    connect(m_ask, &QPushButton::clicked, this, &SamplesCard::ask);
}

void SamplesCard::ask() {
    if (!m_ask->isEnabled()) return;
    Q_EMIT asked(m_prompt->text());
    GenerateOptions options;
    options.prompts.push_back(m_prompt->text().toStdString());
    auto* job = new Job(
        [options, run = RunDirectory{m_dir.toStdString()},
         places = m_session.places()](const Job::Reporter& report) {
            ask_run(run, options, places, report.progress);
            return QString();
        },
        this);
    const auto over = [this, job](const QString& said) {
        job->deleteLater();
        setAsking(false);
        Q_EMIT m_session.notice(said);
    };
    connect(job, &Job::finished, this,
            [over] { over(tr("Asked. The run answers after its present step.")); });
    connect(job, &Job::failed, this, [over](const JobFailure& failure) {
        const auto [what, next] = failureWords(failure);
        over(show::advised(what, next));
    });
    setAsking(true);
    job->start();
}

void SamplesCard::setRun(const QString& dir) {
    if (dir == m_dir) return;
    m_dir = dir;
    m_question->setVisible(!dir.isEmpty());
    setVisible(!dir.isEmpty() || (m_samples && !m_samples->empty()));
}

void SamplesCard::setAsking(bool asking) {
    m_prompt->setEnabled(!asking);
    m_ask->setEnabled(!asking && !m_prompt->text().isEmpty());
}

void SamplesCard::setSamples(const std::shared_ptr<const SamplesByStep>& samples) {
    if (samples == m_samples) return;
    const bool is_other_run = !samples || !m_samples || m_samples->empty();
    m_samples = samples;
    const bool has_samples = samples && !samples->empty();
    setVisible(!m_dir.isEmpty() || has_samples);
    for (QWidget* widget :
         {static_cast<QWidget*>(m_earlier), static_cast<QWidget*>(m_later), static_cast<QWidget*>(m_texts)})
        widget->setVisible(has_samples);
    m_none->setVisible(!has_samples);
    if (is_other_run) {
        const QSignalBlocker quiet_earlier(m_earlier), quiet_later(m_later);
        m_earlier->clear();
        m_later->clear();
    }
    if (!has_samples) return;
    fillSteps();
    write();
}

/// Lists the steps. The left list keeps its step. The right list moves to the newest step if it showed the
/// newest step before.
void SamplesCard::fillSteps() {
    const QVariant earlier = m_earlier->currentData(), later = m_later->currentData();
    const bool follows = m_later->currentIndex() == m_later->count() - 1;
    for (QComboBox* box : {m_earlier, m_later}) {
        const QSignalBlocker quiet(box);
        box->clear();
        for (const auto& [step, texts] : *m_samples)
            box->addItem(tr("step %1").arg(show::count(step)), qlonglong(step));
    }
    const QSignalBlocker quiet_earlier(m_earlier), quiet_later(m_later);
    m_earlier->setCurrentIndex(std::max(0, m_earlier->findData(earlier)));
    const int place = follows ? -1 : m_later->findData(later);
    m_later->setCurrentIndex(place < 0 ? m_later->count() - 1 : place);
    m_earlier->setVisible(m_earlier->count() > 1);
}

void SamplesCard::write() {
    if (!m_samples || m_samples->empty()) return;
    std::vector<qlonglong> steps;
    if (m_earlier->count() > 1 && m_earlier->currentData() != m_later->currentData())
        steps.push_back(m_earlier->currentData().toLongLong());
    steps.push_back(m_later->currentData().toLongLong());
    QStringList columns;
    for (const qlonglong step : steps) columns << tr("after step %1").arg(show::count(step));
    // Collects the prompts of all shown steps; a user's own question was answered at only one of them.
    SamplesOfStep prompts;
    for (const qlonglong step : steps) {
        const auto at = m_samples->find(step);
        if (at != m_samples->end()) prompts.insert(at->second.begin(), at->second.end());
    }
    std::vector<SideRow> rows;
    for (const auto& [prompt, sample] : prompts) {
        SideRow row{QString::fromStdString(sample.prompt), !sample.is_chat, {}};
        for (const qlonglong step : steps) row.texts.push_back(textOf(*m_samples, step, prompt));
        rows.push_back(std::move(row));
    }
    m_texts->setTexts(columns, rows);
}

}  // namespace ringmaster
