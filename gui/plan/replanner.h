/// Plans a text again whenever it changes, off the GUI thread: first the plan, then advice on better ones.
/// Only the newest question gets an answer.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/advise.h"
#include "launcher/base/places.h"
#include "launcher/machine/machine.h"
#include "launcher/run/request.h"

namespace ringmaster {

struct PlanQuestion {
    std::string text;
    Request request;  ///< request whose `config` is the path of the text
    Machine machine;
    Places places;
    std::optional<int64_t> what_if_length;  ///< replaces the text's sequence_len; there is then no advice
};

struct PlanAnswer {
    int number = 0;  ///< number of the question
    bool what_if = false;
    ConfigReading reading;
    Plan plan;
};

using PlanAnswerPtr = std::shared_ptr<const PlanAnswer>;
using AdvicePtr = std::shared_ptr<const Advice>;

/// Answers on the calling thread.
PlanAnswer answer(const PlanQuestion& question);

class Replanner : public QObject {
    Q_OBJECT

  public:
    explicit Replanner(QObject* parent = nullptr);
    ~Replanner() override;

    int ask(PlanQuestion question);  ///< returns the question's number
    bool isIdle() const { return !m_pending && !m_running; }

  Q_SIGNALS:
    void planned(const ringmaster::PlanAnswerPtr& answer);
    void advised(int number, const ringmaster::AdvicePtr& advice);

  private:
    void startNext();
    void startAdvice(const PlanAnswerPtr& answer, const PlanRequest& request);

    QThreadPool m_pool;
    std::optional<PlanQuestion> m_pending;
    bool m_running = false;
    std::stop_source m_advising;
    int m_number = 0;
};

}  // namespace ringmaster
