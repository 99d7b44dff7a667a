#include "gui/look/numbers.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QLocale>
#include <QRegularExpression>
#include <cmath>

#include "gui/look/units.h"

namespace ringmaster::show {

namespace {

using namespace Qt::Literals::StringLiterals;

struct Figures {
    Q_DECLARE_TR_FUNCTIONS(Figures)
};

/// Joins a figure and its unit with a narrow no-break space.
QString with_unit(const QString& figure, const QString& unit) {
    return figure + QChar(0x202f) + unit;
}

QString significant(double value, int digits) {
    const double size = std::abs(value);
    const int before = size < 1 ? 0 : int(std::floor(std::log10(size))) + 1;
    return QLocale().toString(value, 'f', std::max(0, digits - before));
}

/// Joins two figures with their units by a no-break space.
QString two_parts(int64_t big, const QString& big_unit, int64_t small, const QString& small_unit) {
    const QString first = with_unit(QLocale().toString(qlonglong(big)), big_unit);
    return small == 0 ? first
                      : first + QChar::Nbsp + with_unit(QLocale().toString(qlonglong(small)), small_unit);
}

}  // namespace

const QString& unknown() {
    static const QString dash = u"\u2013"_s;
    return dash;
}

QString path(const QString& path) {
    const QString home = QDir::homePath();
    return path == home || path.startsWith(home + u'/') ? u'~' + path.mid(home.size()) : path;
}

QString count(int64_t number) {
    return QLocale().toString(qlonglong(number));
}

namespace {

/// Returns a figure such as "2e-5", as configurations write it.
QString powered(double value, int digits) {
    static const QRegularExpression zeros(u"(?<=[eE])([+-]?)0*(?=\\d)"_s);
    return QLocale().toString(value, 'g', digits).replace(zeros, u"\\1"_s).replace(u'E', u'e');
}

}  // namespace

QString number(double value, int digits) {
    if (!std::isfinite(value)) return unknown();
    const double size = std::abs(value);
    if (size != 0 && (size < 1e-4 || size >= 1e15)) return powered(value, digits);
    QString text = QLocale().toString(value, 'g', std::max(digits, 1));
    return size >= 1000 ? QLocale().toString(value, 'f', 0) : text;
}

QString about(const QString& figure, bool sampled) {
    return sampled ? u"\u2248 "_s + figure : figure;
}

QString bytes(int64_t number) {
    const double kib = 1024, mib = kib * kib, gib = mib * kib;
    const double size = double(number);
    if (std::abs(size) >= gib) return with_unit(significant(size / gib, 3), u"GiB"_s);
    if (std::abs(size) >= mib) return with_unit(significant(size / mib, 3), u"MiB"_s);
    if (std::abs(size) >= kib) return with_unit(significant(size / kib, 3), u"KiB"_s);
    return with_unit(QLocale().toString(qlonglong(number)), u"B"_s);
}

QString seconds(const QString& figure) {
    //: unit: seconds
    return with_unit(figure, Figures::tr("s"));
}

QString milliseconds(const QString& figure) {
    //: unit: milliseconds
    return with_unit(figure, Figures::tr("ms"));
}

QString duration(double span) {
    if (!std::isfinite(span)) return unknown();
    if (span < 0) span = 0;
    if (span < 0.0995) return milliseconds(significant(span * 1e3, 2));
    if (span < 9.95) return seconds(significant(span, 2));
    const auto whole = int64_t(std::llround(span));
    if (whole < 60) return seconds(count(whole));
    //: unit: minutes
    const QString min = Figures::tr("min");
    if (whole < 3600) return two_parts(whole / 60, min, whole % 60, Figures::tr("s"));
    //: unit: hours
    const QString hours = Figures::tr("h");
    const auto minutes = int64_t(std::llround(span / 60)), all_hours = int64_t(std::llround(span / 3600));
    if (minutes < int64_t{24} * 60) return two_parts(minutes / 60, hours, minutes % 60, min);
    //: unit: days
    return two_parts(all_hours / 24, Figures::tr("d"), all_hours % 24, hours);
}

QString percent(double share) {
    if (!std::isfinite(share)) return unknown();
    const double hundredths = share * 100;
    const int decimals = std::abs(hundredths) < 9.95 ? 1 : 0;
    return with_unit(QLocale().toString(hundredths, 'f', decimals), u"%"_s);
}

QString points(double one, double two) {
    // Shares are rounded before they are subtracted, so that the result is the difference of the figures as
    // shown.
    const auto tenths = [](double share) { return std::round(1000 * share); };
    return number(std::abs(tenths(two) - tenths(one)) / 10, 2);
}

QString progress(int64_t done, std::optional<int64_t> total) {
    if (!total) return count(done);
    //: progress: %1 is the last step, %2 the number of steps
    return Figures::tr("%1 of %2").arg(count(done), count(*total));
}

QString rate(double per_second) {
    if (!std::isfinite(per_second)) return unknown();
    if (per_second < 9995) return count(std::llround(per_second));
    if (per_second < 999500) return with_unit(significant(per_second / 1e3, 3), u"k"_s);
    return with_unit(significant(per_second / 1e6, 3), u"M"_s);
}

QString loss(double value) {
    return std::isfinite(value) ? QLocale().toString(value, 'f', 4) : unknown();
}

QString time(double unix_seconds) {
    if (!(unix_seconds > 0)) return unknown();
    return QLocale().toString(QDateTime::fromMSecsSinceEpoch(qint64(unix_seconds * 1e3)),
                              QLocale::ShortFormat);
}

QString date(double unix_seconds) {
    if (!(unix_seconds > 0)) return unknown();
    return QLocale().toString(QDateTime::fromMSecsSinceEpoch(qint64(unix_seconds * 1e3)).date(),
                              QLocale::ShortFormat);
}

QString age(double seconds) {
    if (!std::isfinite(seconds)) return unknown();
    //: the data were measured just now
    if (seconds < 1.5) return Figures::tr("now");
    //: time since something happened; %1 is "12 s" or "3 min"
    return Figures::tr("%1 ago").arg(
        duration(seconds < 60 ? std::floor(seconds) : std::floor(seconds / 60) * 60));
}

QString listed(QStringList parts) {
    parts.removeAll({});
    //: stands between the parts of a list such as "2 cores, 23.5 GiB"
    return parts.join(Figures::tr(", "));
}

QString html(const QString& text) {
    return text.toHtmlEscaped().replace(u'\n', u"<br>"_s).replace(QChar(0x202f), QChar::Nbsp);
}

QString clauses(QStringList parts) {
    parts.removeAll({});
    //: stands between clauses that have commas of their own
    return parts.join(Figures::tr("; "));
}

QString sentences(QStringList parts) {
    parts.removeAll({});
    QString text;
    for (const QString& part : parts) {
        // Full-width Chinese and Japanese punctuation marks include a space, so none is added after them.
        const bool has_room = text.isEmpty() || u"\u3002\uff01\uff1f\uff1a\uff1b"_s.contains(text.back());
        text += has_room ? part : u' ' + part;
    }
    return text;
}

QString sentence(const QString& words) {
    //: a sentence, with its full stop
    return Figures::tr("%1.").arg(words);
}

QString ended(const QString& text) {
    const QChar last = text.isEmpty() ? QChar() : text.back();
    return last.isLetterOrNumber() || last == u')' || last == u'\uFF09' ? sentence(text) : text;
}

QString begun(const QString& text) {
    static const QRegularExpression word(u"^\\p{Ll}+(?=[, '])[^\\x{2E80}-\\x{FFFF}]*$"_s);
    return word.match(text).hasMatch() ? text.at(0).toUpper() + text.mid(1) : text;
}

QString advised(const QString& what, const QString& next) {
    return next.isEmpty() ? what : sentences({ended(what), begun(next)});
}

QString said_of(const QString& what, const QString& text) {
    //: %1 is a name, such as a machine's, %2 is what is said of it
    return Figures::tr("%1: %2").arg(what, text);
}

}  // namespace ringmaster::show
