#include "gui/monitor/samples_card.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <algorithm>

#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/side_by_side.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr double kLeastHeight = 4, kMostHeight = 18;

SideText textOf(const SamplesByStep& samples, qlonglong step, int prompt) {
    const auto at = samples.find(step);
    if (at == samples.end() || !at->second.contains(prompt)) return {{}, SamplesCard::tr("no sample")};
    const Sample& sample = at->second.at(prompt);
    return {QString::fromStdString(sample.text), sample.stopped ? QString() : u"\u2026"_s};
}

}  // namespace

SamplesCard::SamplesCard(QWidget* parent)
    : Card(tr("Samples"), parent), m_earlier(new QComboBox), m_later(new QComboBox), m_texts(new SideBySide) {
    setObjectName(u"samplesCard"_s);
    setSubtitle(tr("what the model writes for sample_prompts"));
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
    body()->addWidget(m_texts);
}

void SamplesCard::setSamples(const std::shared_ptr<const SamplesByStep>& samples) {
    if (samples == m_samples) return;
    const bool is_other_run = !samples || !m_samples || m_samples->empty();
    m_samples = samples;
    setVisible(samples && !samples->empty());
    if (is_other_run) {
        const QSignalBlocker quiet_earlier(m_earlier), quiet_later(m_later);
        m_earlier->clear();
        m_later->clear();
    }
    if (isHidden()) return;
    fillSteps();
    write();
}

/// Lists the steps. The left list stays where it is, the right one at the newest step if it was there.
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
    const auto newest = m_samples->find(steps.back());
    std::vector<SideRow> rows;
    for (const auto& [prompt, sample] : newest->second) {
        SideRow row{QString::fromStdString(sample.prompt), !sample.is_chat, {}};
        for (const qlonglong step : steps) row.texts.push_back(textOf(*m_samples, step, prompt));
        rows.push_back(std::move(row));
    }
    m_texts->setTexts(columns, rows);
}

}  // namespace ringmaster
