/// Shows what a run wrote while it trained: the texts of a step beside those of an earlier step.
#pragma once

#include <memory>

#include "gui/look/card.h"
#include "gui/monitor/run_reader.h"

class QComboBox;
class QLineEdit;

namespace ringmaster {

class SideBySide;

class SamplesCard : public Card {
    Q_OBJECT

  public:
    explicit SamplesCard(QWidget* parent = nullptr);

    /// Shows the samples, and hides the card if there are none. The later step follows the newest one until
    /// the person chooses another.
    void setSamples(const std::shared_ptr<const SamplesByStep>& samples);

    /// Offers to ask the run, which trains here; the card is then shown without samples too.
    void setCanAsk(bool can);
    /// Says whether a question is on its way.
    void setAsking(bool asking);

  Q_SIGNALS:
    void asked(const QString& prompt);

  private:
    void ask();
    void fillSteps();
    void write();

    std::shared_ptr<const SamplesByStep> m_samples;
    QComboBox *m_earlier, *m_later;
    SideBySide* m_texts;
    QWidget* m_question;
    QLineEdit* m_prompt;
    QPushButton* m_ask;
    bool m_can_ask = false;
};

}  // namespace ringmaster
