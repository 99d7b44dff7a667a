/// Where an axis has its ticks, and what stands there. Round numbers in the unit that people read.
#pragma once

#include <QString>
#include <vector>

namespace ringmaster {

/// What an axis counts; how its figures are written.
enum class Unit { Plain, Count, Loss, Seconds, Percent, Bytes, Rate };

/// As in a read-out: "2.7142", "0.41 s", "5.8 %", "60.9 GiB".
QString figureText(Unit unit, double value);

struct Tick {
    double value;
    QString text;
};

/// Round values in [low, high], at most `most` of them; none where low ≥ high or one is no number.
std::vector<Tick> ticks(Unit unit, double low, double high, int most);

/// For a logarithmic axis; low > 0.
std::vector<Tick> logTicks(Unit unit, double low, double high, int most);

/// Distance of round ticks: 1, 2 or 5 times a power of ten; of seconds also quarters and days.
double tickStep(Unit unit, double span, int most);

}  // namespace ringmaster
