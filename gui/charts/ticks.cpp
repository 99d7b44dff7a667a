#include "gui/charts/ticks.h"

#include <QLocale>
#include <algorithm>
#include <array>
#include <cmath>

#include "gui/look/numbers.h"
#include "gui/look/units.h"

namespace ringmaster {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr std::array<double, 4> kByteUnits = {1, 1024, 1024.0 * 1024, 1024.0 * 1024 * 1024};
constexpr std::array<double, 16> kTimes = {60,    120,   300,   600,   900,    1800,   3600,   7200,
                                           10800, 21600, 43200, 86400, 172800, 432000, 864000, 1728000};

double byteUnit(double most) {
    double unit = 1;
    for (double candidate : kByteUnits) {
        if (std::abs(most) >= candidate) unit = candidate;
    }
    return unit;
}

double roundStep(double span, int most) {
    const double least = span / std::max(most, 1);
    const double power = std::pow(10, std::floor(std::log10(least)));
    for (double step : {1.0, 2.0, 5.0}) {
        if (step * power >= least * (1 - 1e-9)) return step * power;
    }
    return 10 * power;
}

QString decimal(double value, double step) {
    const int decimals = std::clamp(int(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
    if (std::abs(value) < step * 1e-6) value = 0;
    if (decimals > 4) return show::number(value);
    return QLocale().toString(value, 'f', decimals);
}

QString label(Unit unit, double value, double step, double most) {
    const QChar gap(0x202f);
    const bool isZero = std::abs(value) < step * 1e-6;
    if (isZero && unit != Unit::Percent) return u"0"_s;
    switch (unit) {
        case Unit::Percent:
            return decimal(value * 100, step * 100) + gap + u"%"_s;
        case Unit::Bytes: {
            const double size = byteUnit(most);
            const QString name = size >= kByteUnits[3]   ? u"GiB"_s
                                 : size >= kByteUnits[2] ? u"MiB"_s
                                 : size >= kByteUnits[1] ? u"KiB"_s
                                                         : u"B"_s;
            return decimal(value / size, step / size) + gap + name;
        }
        case Unit::Rate:
        case Unit::Count: {
            if (most >= 1e9) return decimal(value / 1e9, step / 1e9) + gap + u"G"_s;
            if (most >= 1e6) return decimal(value / 1e6, step / 1e6) + gap + u"M"_s;
            if (most >= 1e4 && unit == Unit::Rate) return decimal(value / 1e3, step / 1e3) + gap + u"k"_s;
            return decimal(value, step);
        }
        case Unit::Seconds:
            if (most >= 60) return show::duration(value);
            if (most < 0.1) return show::milliseconds(decimal(value * 1e3, step * 1e3));
            return show::seconds(decimal(value, step));
        case Unit::Plain:
        case Unit::Loss:
            break;
    }
    if (most >= 1e6 || most < 1e-3) return show::number(value);
    return decimal(value, step);
}

}  // namespace

QString figureText(Unit unit, double value) {
    if (!std::isfinite(value)) return show::unknown();
    switch (unit) {
        case Unit::Plain:
            return show::number(value);
        case Unit::Count:
            return show::count(std::llround(value));
        case Unit::Loss:
            return show::loss(value);
        case Unit::Seconds:
            return show::duration(value);
        case Unit::Percent:
            return show::percent(value);
        case Unit::Bytes:
            return show::bytes(std::llround(value));
        case Unit::Rate:
            return show::rate(value);
    }
    return {};
}

double tickStep(Unit unit, double span, int most) {
    if (unit == Unit::Percent) return roundStep(span * 100, most) / 100;
    if (unit == Unit::Bytes) return roundStep(span / byteUnit(span), most) * byteUnit(span);
    if (unit == Unit::Count) return std::max(1.0, roundStep(span, most));
    if (unit == Unit::Seconds && span / std::max(most, 1) > 30) {
        for (double step : kTimes) {
            if (step * most >= span) return step;
        }
    }
    return roundStep(span, most);
}

std::vector<Tick> ticks(Unit unit, double low, double high, int most) {
    std::vector<Tick> found;
    if (!(low < high) || !std::isfinite(low) || !std::isfinite(high)) return found;
    const double step = tickStep(unit, high - low, most);
    const double largest = std::max(std::abs(low), std::abs(high));
    if (!(step > largest * 1e-12)) return found;
    for (double at = std::ceil(low / step - 1e-6); at * step <= high + step * 1e-6; ++at)
        found.push_back({at * step, label(unit, at * step, step, largest)});
    return found;
}

std::vector<Tick> logTicks(Unit unit, double low, double high, int most) {
    std::vector<Tick> found;
    if (!(low > 0) || !(low < high) || !std::isfinite(high)) return found;
    const double decades = std::log10(high / low);
    if (decades < 1) return ticks(unit, low, high, most);
    const bool between = decades < most / 3.0;
    const double every = std::max(1.0, std::ceil(decades / most));
    for (double power = std::floor(std::log10(low)); power <= std::log10(high); power += every) {
        for (double part : {1.0, 2.0, 5.0}) {
            if (part > 1 && !between) break;
            const double value = part * std::pow(10, power);
            if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
            found.push_back({value, label(unit, value, value, value)});
        }
    }
    return found;
}

}  // namespace ringmaster
