#include "gui/monitor/run_reader.h"

#include <QDateTime>
#include <QFile>
#include <QSaveFile>
#include <chrono>

#include "engine/error.h"
#include "engine/events/log_text.h"
#include "engine/plan/resolve/plan_json.h"
#include "gui/session/alert_words.h"
#include "gui/session/finding_words.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

namespace {

using namespace Qt::Literals::StringLiterals;
using namespace std::chrono_literals;

constexpr int kPoll_ms = 200, kIdlePoll_ms = 1000;
constexpr auto kBite = 120ms;     ///< longest read before looking for other work
constexpr double kRefresh_s = 1;  ///< updates even without news: the verdict depends on the time
constexpr double kWhileReading_s = 0.4;
constexpr int64_t kLogTail = 256 << 10;
constexpr size_t kMostRepeated = 100'000;

double secondsNow() {
    return double(QDateTime::currentMSecsSinceEpoch()) * 1e-3;
}

LogFollower fromTail(const std::filesystem::path& file) {
    std::error_code none;
    const auto size = std::filesystem::is_regular_file(file, none)
                          ? static_cast<int64_t>(std::filesystem::file_size(file, none))
                          : 0;
    return LogFollower(file, none ? 0 : std::max<int64_t>(0, size - kLogTail));
}

}  // namespace

RunReader::RunReader(QString dir) : m_dir(std::move(dir)) {}

void RunReader::begin() {
    m_timer = new QTimer(this);
    connect(m_timer, &QTimer::timeout, this, &RunReader::tick);
    try {
        const RunDirectory run{m_dir.toStdString()};
        m_history = std::make_unique<RunHistory>(run);
        try {
            m_plan = read_plan(run.plan().string());
        } catch (const Error& problem) {
            m_plan_problem = problem.text();
        }
    } catch (const std::exception& problem) {
        const auto* known = dynamic_cast<const Error*>(&problem);
        Q_EMIT unreadable(known != nullptr ? text_of(*known) : QString::fromStdString(problem.what()));
        return;
    }
    m_timer->start(0);
}

void RunReader::request(const ChartRequest& wanted) {
    if (wanted == m_request) return;
    m_request = wanted;
    m_stale = true;
    if (m_timer != nullptr && m_timer->isActive()) m_timer->start(0);
}

void RunReader::taken() {
    m_waiting = false;
}

void RunReader::tick() {
    if (m_left) return m_timer->stop();
    try {
        readOnce();
    } catch (const std::exception& problem) {
        m_timer->stop();
        Q_EMIT unreadable(QString::fromStdString(problem.what()));
    }
}

void RunReader::readOnce() {
    bool came = m_history->read(kBite);
    if (readLogs()) came = m_history->read(kBite) || came;  // reads the events that these log lines repeat
    m_stale = m_stale || came;
    const bool whole = m_history->progress().whole();
    const double since = secondsNow() - m_told_at;
    // Draws less often if drawing takes long.
    const double least = std::max(whole ? 0.0 : kWhileReading_s, m_made_ms * 4e-3);
    const bool due = (m_stale && (since >= least || m_charts == nullptr)) || since >= kRefresh_s;
    if (due && !m_waiting) tell();
    const bool idle = whole && !came && is_over(m_history->state().state);
    m_timer->start(!whole ? 0 : idle && !m_stale ? kIdlePoll_ms : kPoll_ms);
}

/// Returns true if there were new lines.
bool RunReader::readLogs() {
    const size_t before = m_log_lines.size();
    const RunDirectory& run = m_history->run();
    if (!m_logs.contains(-1)) m_logs.emplace(-1, fromTail(run.agent_log()));
    for (const RankHistory& rank : m_history->ranks()) {
        if (!m_logs.contains(rank.rank))
            m_logs.emplace(rank.rank, fromTail(run.logs() / log_file_name(rank.rank)));
    }
    for (auto& [rank, log] : m_logs) {
        double& t = m_log_times[rank];
        if (t == 0)
            t = m_history->state().started > 0 ? m_history->state().started : m_history->state().created;
        for (std::string& text : log.poll()) {
            t = take_time(text, t);
            if (!text.empty())
                m_log_lines.push_back({t, rank, LogLine::Kind::Text, plain_text(std::move(text))});
        }
    }
    return m_log_lines.size() > before;
}

/// Adds new events to the lines that are shown, and remembers the log lines in which the engine repeats them.
void RunReader::addEvents() {
    for (const Happening& happening : m_history->take_news()) {
        LogLine line = lineOf(happening);
        if (!line.text.isEmpty()) m_lines.push_back(std::move(line));
        for (const QString& logged :
             QString::fromStdString(log_text(happening.event)).split(u'\n', Qt::SkipEmptyParts))
            m_repeated.emplace(happening.rank, plain_text(logged.toStdString()));
    }
    if (m_repeated.size() > kMostRepeated) m_repeated.clear();
    for (const Alert& alert : m_history->take_alerts())
        m_lines.push_back({alert.t, alert.rank.value_or(0), LogLine::Kind::Warning, alertText(alert)});
}

/// Adds the logs' lines except those that repeat an event. Waits until all events are read.
void RunReader::addLogs() {
    if (!m_history->progress().whole()) return;
    for (LogLine& line : std::exchange(m_log_lines, {})) {
        const auto repeated = m_repeated.find({line.rank, line.text});
        if (repeated == m_repeated.end())
            m_lines.push_back(std::move(line));
        else
            m_repeated.erase(repeated);
    }
}

void RunReader::tell() {
    const auto began = std::chrono::steady_clock::now();
    auto news_now = std::make_shared<MonitorNews>();
    news_now->picture = make_picture(*m_history, m_plan ? &*m_plan : nullptr, secondsNow());
    news_now->picture.plan_problem = m_plan_problem;
    if (m_stale || m_charts == nullptr)
        m_charts = std::make_shared<const RunCharts>(make_charts(*m_history, m_request));
    news_now->picture.charts = m_charts;
    addEvents();
    addLogs();
    std::stable_sort(m_lines.begin(), m_lines.end(),
                     [](const LogLine& a, const LogLine& b) { return a.t < b.t; });
    if (*m_samples != m_history->samples())
        m_samples = std::make_shared<const SamplesByStep>(m_history->samples());
    news_now->samples = m_samples;
    news_now->lines = std::exchange(m_lines, {});
    m_stale = false;
    m_waiting = true;
    m_told_at = secondsNow();
    m_made_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    Q_EMIT news(news_now);
}

namespace {

/// Returns a column's name, quoted if it is the name of a reward function.
QByteArray headerOf(Measure measure, const StepColumns& steps) {
    const size_t function = size_t(measure) - size_t(Measure::FunctionReward);
    if (function >= steps.functions().size()) return to_string(measure);
    return '"' + QByteArray::fromStdString(steps.functions()[function]).replace('"', "\"\"") + '"';
}

}  // namespace

void RunReader::writeCsv(const QString& file, std::vector<Measure> measures) {
    QSaveFile out(file);
    bool good = m_history && !m_history->ranks().empty() && out.open(QIODevice::WriteOnly);
    const StepColumns none;
    const StepColumns& first = good ? m_history->ranks().front().steps : none;
    std::erase_if(measures, [&](Measure one) { return is_optional(one) && !first.has(one); });
    QByteArray text = "step,rank,t";
    for (Measure measure : measures) text += "," + headerOf(measure, first);
    text += "\r\n";
    for (size_t index = 0; good && index < m_history->ranks().size() && !m_left; ++index) {
        const RankHistory& rank = m_history->ranks()[index];
        if (index > 0 && std::all_of(measures.begin(), measures.end(), is_optional))
            break;  // only rank 0 reports optional measures
        for (auto block = rank.steps.next_block(0); block; block = rank.steps.next_block(*block + 1)) {
            for (int64_t step = *block * StepColumns::kBlock; step < (*block + 1) * StepColumns::kBlock;
                 ++step) {
                if (!rank.steps.has(step)) continue;
                text += QByteArray::number(qlonglong(step)) + "," + QByteArray::number(rank.rank) + "," +
                        QByteArray::number(rank.steps.time(step), 'f', 3);
                for (Measure measure : measures) {
                    const float value = rank.steps.value(step, measure);
                    text += QByteArray(",") +
                            (std::isnan(value) ? QByteArray() : QByteArray::number(double(value), 'g', 9));
                }
                text += "\r\n";
            }
            good = out.write(text) == text.size();
            text.clear();
        }
    }
    good = good && (text.isEmpty() || out.write(text) == text.size()) && out.commit();
    Q_EMIT written(file, good ? QString() : file + u": "_s + out.errorString());
}

}  // namespace ringmaster
