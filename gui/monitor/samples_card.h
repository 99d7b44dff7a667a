/// Shows what a run wrote while it trained: the texts of a step next to those of an earlier step.
#pragma once

#include <memory>

#include "gui/look/card.h"
#include "gui/monitor/run_reader.h"
#include "gui/session/session.h"

class QComboBox;
class QLineEdit;

namespace ringmaster {

class SideBySide;

class SamplesCard : public Card {
    Q_OBJECT

  public:
    explicit SamplesCard(Session& session, QWidget* parent = nullptr);

    /// Shows the samples, and hides the card if there are none. The later step follows the newest one until
    /// the user chooses another.
    void setSamples(const std::shared_ptr<const SamplesByStep>& samples);

    /// Lets the user send a prompt to the run in `dir`, which trains on this machine, and shows the card
    /// even without samples. An empty `dir` hides the prompt box. The answer arrives with the other samples.
    void setRun(const QString& dir);

  Q_SIGNALS:
    void asked(const QString& prompt);

  private:
    void ask();
    void setAsking(bool asking);
    void fillSteps();
    void write();

    Session& m_session;
    std::shared_ptr<const SamplesByStep> m_samples;
    QComboBox *m_earlier, *m_later;
    SideBySide* m_texts;
    QLabel* m_none;
    QWidget* m_question;
    QLineEdit* m_prompt;
    QPushButton* m_ask;
    QString m_dir;  ///< directory of the run that can be asked; empty: none
};

}  // namespace ringmaster
