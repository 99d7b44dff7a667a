#include "gui/plan/replanner.h"

#include <QFutureWatcher>
#include <QtConcurrent/QtConcurrentRun>

#include "engine/error.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"

namespace ringmaster {

namespace {

/// Returns an answer that reports an unexpected error as a problem of the text, like any other.
PlanAnswer unforeseen(const PlanQuestion& question, const std::exception& problem) {
    PlanAnswer failed;
    failed.reading.readable = false;
    failed.reading.config.file = question.request.config;
    failed.plan.verdict = Verdict::Invalid;
    const auto* error = dynamic_cast<const Error*>(&problem);
    failed.plan.diagnostics.push_back({Severity::Error, error != nullptr ? error->code : "CFG-FILE", "", 0,
                                       problem.what(), error != nullptr ? error->hint : ""});
    return failed;
}

PlanAnswer guarded(const PlanQuestion& question) {
    try {
        return answer(question);
    } catch (const std::exception& problem) {
        return unforeseen(question, problem);
    }
}

/// Returns the reading without the keys that this engine refuses, so that meshes can still be
/// ranked.
ConfigReading without_refused_keys(ConfigReading reading) {
    std::erase_if(reading.diagnostics, [](const Diagnostic& said) {
        return said.severity == Severity::Error && said.code.starts_with("KEY-");
    });
    return reading;
}

Advice guarded_advice(const PlanAnswer& of, const PlanRequest& request, std::stop_token stop) {
    try {
        if (of.plan.ok() || !of.reading.readable)
            return advise(of.reading, request, of.plan, std::move(stop));
        const ConfigReading reading = without_refused_keys(of.reading);
        return advise(reading, request, make_plan(reading, request), std::move(stop));
    } catch (const std::exception&) {
        return {};
    }
}

}  // namespace

PlanAnswer answer(const PlanQuestion& question) {
    ReadOptions options;
    options.set = question.request.set;
    options.accelerate_file = question.request.accelerate_file;
    options.environment = question.request.environment;
    options.base_dir = question.request.base_dir;
    if (question.what_if_length)
        options.set.emplace_back("sequence_len", std::to_string(*question.what_if_length));
    PlanAnswer found;
    found.what_if = question.what_if_length.has_value();
    found.reading = read_config_text(question.text, question.request.config, options);
    found.plan =
        make_plan(found.reading, plan_request_of(question.request, question.machine, question.places));
    return found;
}

Replanner::Replanner(QObject* parent) : QObject(parent) {
    m_pool.setMaxThreadCount(1);
}

Replanner::~Replanner() {
    m_advising.request_stop();
}

int Replanner::ask(PlanQuestion question) {
    m_pending = std::move(question);
    m_advising.request_stop();  // the advice is for an earlier text
    ++m_number;
    if (!m_running) startNext();
    return m_number;
}

void Replanner::startNext() {
    m_running = true;
    PlanQuestion question = std::move(*m_pending);
    m_pending.reset();
    const int number = m_number;
    const PlanRequest request = plan_request_of(question.request, question.machine, question.places);
    auto* watcher = new QFutureWatcher<PlanAnswer>(this);
    connect(watcher, &QFutureWatcher<PlanAnswer>::finished, this, [this, watcher, number, request] {
        watcher->deleteLater();
        if (m_pending) return startNext();
        auto found = std::make_shared<PlanAnswer>(watcher->result());
        found->number = number;
        if (found->what_if) {
            m_running = false;
        } else {
            startAdvice(found, request);
        }
        Q_EMIT planned(found);
    });
    watcher->setFuture(
        QtConcurrent::run(&m_pool, [question = std::move(question)] { return guarded(question); }));
}

void Replanner::startAdvice(const PlanAnswerPtr& found, const PlanRequest& request) {
    m_advising = {};
    auto* watcher = new QFutureWatcher<Advice>(this);
    connect(watcher, &QFutureWatcher<Advice>::finished, this, [this, watcher, number = found->number] {
        watcher->deleteLater();
        if (m_pending) return startNext();
        m_running = false;
        Q_EMIT advised(number, std::make_shared<Advice>(watcher->result()));
    });
    watcher->setFuture(QtConcurrent::run(&m_pool, [found, request, stop = m_advising.get_token()] {
        return guarded_advice(*found, request, stop);
    }));
}

}  // namespace ringmaster
