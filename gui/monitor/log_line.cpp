#include "gui/monitor/log_line.h"

#include <QCoreApplication>
#include <array>
#include <cstdio>

#include "gui/look/numbers.h"
#include "gui/session/finding_words.h"
#include "gui/session/progress_words.h"

namespace ringmaster {

namespace {

struct Log {
    Q_DECLARE_TR_FUNCTIONS(Log)
};

constexpr double kHalfDay_s = 12 * 3600;
constexpr size_t kLongestLine = 2000;

QString textOf(const HelloEvent& e) {
    return Log::tr("attempt %1 on %2, %3, Ringmaster %4, LibTorch %5")
        .arg(QString::number(e.attempt), QString::fromStdString(e.host), QString::fromStdString(e.device),
             QString::fromStdString(e.version), QString::fromStdString(e.torch_version));
}
QString textOf(const PhaseEvent& e) {
    return Log::tr("phase: %1").arg(progress_words({e.name}));
}
QString textOf(const EvalEvent& e) {
    return Log::tr("evaluation after step %1: loss %2").arg(show::count(e.step), show::loss(e.loss));
}
QString textOf(const CheckpointEvent& e) {
    return Log::tr("checkpoint of step %1 saved in %2").arg(show::count(e.step), show::duration(e.seconds));
}
QString textOf(const SamplesEvent& e) {
    return Log::tr("%n sample(s) written after step %1", nullptr, int(e.prompts)).arg(show::count(e.step));
}
QString textOf(const DoneEvent& e) {
    return e.state == "completed" ? Log::tr("completed after step %1").arg(show::count(e.step))
                                  : Log::tr("stopped after step %1").arg(show::count(e.step));
}
QString withPlace(const QString& text, const std::string& where) {
    return where.empty() ? text : QString::fromStdString(where) + QStringLiteral(": ") + text;
}
QString textOf(const WarningEvent& e) {
    return withPlace(note_of(e.message), e.where);
}
QString textOf(const ErrorEvent& e) {
    return withPlace(error_of(e.code, e.message), e.where);
}
QString textOf(const auto&) {
    return {};
}

}  // namespace

double take_time(std::string& text, double near) {
    std::tm parts{};
    int length = 0;
    const auto now = static_cast<std::time_t>(near);
    localtime_r(&now, &parts);
    std::array<int, 6> at{};
    bool has_date = false;
    if (std::sscanf(text.c_str(), "%4d-%2d-%2d %2d:%2d:%2d%n", &at[0], &at[1], &at[2], &at[3], &at[4], &at[5],
                    &length) == 6 &&
        length == 19) {
        parts.tm_year = at[0] - 1900;
        parts.tm_mon = at[1] - 1;
        parts.tm_mday = at[2];
        has_date = true;
    } else if (std::sscanf(text.c_str(), "%2d:%2d:%2d%n", &at[3], &at[4], &at[5], &length) != 3 ||
               length != 8) {
        return near;
    }
    parts.tm_hour = at[3];
    parts.tm_min = at[4];
    parts.tm_sec = at[5];
    parts.tm_isdst = -1;
    const auto found = static_cast<double>(std::mktime(&parts));
    text.erase(0, static_cast<size_t>(length) + (text.size() > static_cast<size_t>(length) ? 1 : 0));
    return !has_date && found < near - kHalfDay_s ? found + 2 * kHalfDay_s : found;
}

QString plain_text(std::string text) {
    if (text.size() > kLongestLine) text.resize(kLongestLine);
    QString line = QString::fromStdString(text);
    for (QChar& c : line) {
        if (c.category() == QChar::Other_Control) c = u' ';
    }
    return line;
}

LogLine lineOf(const Happening& happening) {
    LogLine line{happening.t, happening.rank, LogLine::Kind::RunEvent, {}};
    const QString text = std::visit([](const auto& event) { return textOf(event); }, happening.event);
    line.text = plain_text(text.toStdString());
    if (std::holds_alternative<WarningEvent>(happening.event)) line.kind = LogLine::Kind::Warning;
    if (std::holds_alternative<ErrorEvent>(happening.event)) line.kind = LogLine::Kind::Error;
    return line;
}

}  // namespace ringmaster
