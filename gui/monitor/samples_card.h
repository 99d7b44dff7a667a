/// Shows what a run wrote while it trained: the texts of a step beside those of an earlier step.
#pragma once

#include <memory>

#include "gui/look/card.h"
#include "gui/monitor/run_reader.h"

class QComboBox;

namespace ringmaster {

class SideBySide;

class SamplesCard : public Card {
    Q_OBJECT

  public:
    explicit SamplesCard(QWidget* parent = nullptr);

    /// Shows the samples, and hides the card if there are none. The later step follows the newest one until
    /// the person chooses another.
    void setSamples(const std::shared_ptr<const SamplesByStep>& samples);

  private:
    void fillSteps();
    void write();

    std::shared_ptr<const SamplesByStep> m_samples;
    QComboBox *m_earlier, *m_later;
    SideBySide* m_texts;
};

}  // namespace ringmaster
