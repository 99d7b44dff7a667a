#include "launcher/publish/loss_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "launcher/base/format.h"
#include "launcher/history/curves.h"
#include "launcher/history/figures.h"

namespace ringmaster {

namespace {

constexpr double kWidth = 720, kHeight = 300, kLeft = 56, kRight = 16, kTop = 16, kBottom = 36;

/// Converts steps and losses to places in the picture.
struct Axes {
    StepRange steps;
    double low, high;

    double x(double step) const {
        const auto across = double(std::max<int64_t>(1, steps.to - steps.from));
        return kLeft + (step - double(steps.from)) / across * (kWidth - kLeft - kRight);
    }
    double y(double loss) const { return kTop + (high - loss) / (high - low) * (kHeight - kTop - kBottom); }
};

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", value);
    return text;
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" + text +
           "</text>\n";
}

/// Draws three horizontal lines with their losses, and the numbers of the first and the last step.
std::string grid(const Axes& axes) {
    std::string svg;
    for (const double loss : {axes.low, (axes.low + axes.high) / 2, axes.high}) {
        const std::string y = number(axes.y(loss));
        svg += "<path stroke=\"#8888\" d=\"M" + number(kLeft) + " " + y + "H" + number(kWidth - kRight) +
               "\"/>\n";
        svg += label(kLeft - 8, axes.y(loss) + 4, "end", format_number(loss, 3));
    }
    svg += label(kLeft, kHeight - 12, "start", "step " + format_count(axes.steps.from));
    return svg + label(kWidth - kRight, kHeight - 12, "end", format_count(axes.steps.to));
}

}  // namespace

std::string loss_picture(const RunHistory& history) {
    const RankHistory* rank = reference(history);
    if (rank == nullptr) return {};
    const StepRange range{rank->steps.first(), rank->steps.last()};
    const Curve curve = reduce(rank->steps, Measure::Loss, range, static_cast<int>(kWidth - kLeft - kRight));
    Axes axes{range, INFINITY, -INFINITY};
    const auto include = [&](double loss) {
        if (!std::isfinite(loss)) return;
        axes.low = std::min(axes.low, loss);
        axes.high = std::max(axes.high, loss);
    };
    std::ranges::for_each(curve.mean, include);
    for (const auto& [step, evaluation] : history.evaluations()) include(evaluation.second.loss);
    if (axes.low > axes.high) return {};
    if (axes.low == axes.high) axes.high += 1;

    std::string line, dots;
    for (size_t i = 0; i < curve.size(); ++i) {
        if (!std::isfinite(curve.mean[i])) continue;
        const int64_t step = steps_of_column(range, static_cast<int>(curve.size()), static_cast<int>(i)).to;
        line +=
            (line.empty() ? "M" : "L") + number(axes.x(double(step))) + " " + number(axes.y(curve.mean[i]));
    }
    for (const auto& [step, evaluation] : history.evaluations()) {
        if (!std::isfinite(evaluation.second.loss)) continue;
        dots += "<circle fill=\"#d9822b\" r=\"4\" cx=\"" + number(axes.x(double(step))) + "\" cy=\"" +
                number(axes.y(evaluation.second.loss)) + "\"/>\n";
    }
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(kWidth) + " " +
           number(kHeight) + "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#888\">\n" + grid(axes) +
           "<path fill=\"none\" stroke=\"#3f7fdf\" stroke-width=\"2\" d=\"" + line + "\"/>\n" + dots +
           "</svg>\n";
}

}  // namespace ringmaster
