/// Computes the ticks of an axis and their labels: round numbers in units that people read.
#pragma once

#include <QString>
#include <vector>

namespace ringmaster {

/// Lists what an axis can count. The unit decides how its figures are written.
enum class Unit { Plain, Count, Loss, Seconds, Percent, Bytes, Rate };

/// Returns a figure as a read-out shows it: "2.7142", "0.41 s", "5.8 %", "60.9 GiB".
QString figureText(Unit unit, double value);

struct Tick {
    double value;
    QString text;
};

/// Returns round values in [low, high], at most `most`; none if low ≥ high or an end is not a number.
std::vector<Tick> ticks(Unit unit, double low, double high, int most);

/// Returns the ticks of a logarithmic axis; low must be above 0.
std::vector<Tick> logTicks(Unit unit, double low, double high, int most);

/// Returns the step between ticks at round values: 1, 2 or 5 times a power of ten, for bytes in the unit that
/// suits `span`. For long times also steps such as 15 minutes or 2 days.
double tickStep(Unit unit, double span, int most);

}  // namespace ringmaster
