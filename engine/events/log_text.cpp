#include "engine/events/log_text.h"

#include <cstdio>

namespace ringmaster {

namespace {

std::string text_of(const EvalEvent& event) {
    char text[120];
    std::snprintf(text, sizeof text, "evaluation after step %lld: loss %.6f over %lld labels",
                  static_cast<long long>(event.step), event.loss, static_cast<long long>(event.tokens));
    return text;
}

std::string text_of(const CheckpointEvent& event) {
    char text[80];
    std::snprintf(text, sizeof text, "checkpoint of step %lld saved in %.1f s",
                  static_cast<long long>(event.step), event.seconds);
    return text;
}

std::string text_of(const WarningEvent& event) {
    return "warning: " + event.message;
}

std::string text_of(const DoneEvent& event) {
    const std::string step = std::to_string(event.step);
    return event.state == "completed" ? "completed after step " + step
                                      : "stopped after step " + step + ", saved";
}

std::string text_of(const ErrorEvent& event) {
    return "error: " + (event.where.empty() ? "" : event.where + ": ") + event.message;
}

std::string text_of(const auto&) {
    return {};
}

}  // namespace

ErrorEvent error_event(const Error& error) {
    std::string message = error.what();
    if (!error.hint.empty()) message += " \u2014 " + error.hint;
    return {message, error.where, error.code, error.cause};
}

std::string log_text(const Event& event) {
    return std::visit([](const auto& one) { return text_of(one); }, event);
}

}  // namespace ringmaster
