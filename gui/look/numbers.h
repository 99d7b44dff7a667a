/// Formats figures and lists in the app's language. Bytes are in GiB and MiB, times in seconds to days.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <optional>

namespace ringmaster::show {

QString count(int64_t number);                 ///< such as "1,048,576"
QString number(double value, int digits = 3);  ///< `digits` significant digits, such as "0.0001", "2.71"
QString progress(int64_t done, std::optional<int64_t> total);  ///< such as "640 of 1,000"
QString bytes(int64_t number);                                 ///< such as "61.4 GiB", "812 MiB"
QString about(const QString& figure, bool sampled);            ///< "≈ 61.4 GiB" for a sampled figure
QString duration(double seconds);        ///< "0.41 s", "12 s", "1 min 40 s", "3 h 5 min", "2 d 4 h"
QString percent(double share);           ///< "6.1 %" for 0.061
QString points(double one, double two);  ///< difference of two shares in percentage points: "1.4"
QString rate(double per_second);         ///< such as "812", "19.8k", "1.2M"
QString loss(double value);              ///< such as "2.7142"
QString time(double unix_seconds);       ///< short local date and time
QString date(double unix_seconds);       ///< short local date
QString age(double seconds);             ///< such as "now", "12 s ago", "3 min ago"
QString path(const QString& path);       ///< begins with ~ if the path is in the home folder
QString listed(QStringList parts);       ///< such as "2 cores, 23.5 GiB"; skips empty parts
QString clauses(QStringList parts);      ///< such as "less is exchanged; less memory"; skips empty parts
QString sentences(QStringList parts);    ///< joins the sentences and skips empty ones
QString sentence(const QString& words);  ///< adds a full stop to the words
/// Ends a text with a full stop, if it ends with a letter, a figure or a bracket.
QString ended(const QString& text);
/// Begins a text with a capital letter, unless it begins with a key or a path, or is Chinese or Japanese.
QString begun(const QString& text);
/// Says what is wrong and, if `next` is given, then what to do, as the next sentence.
QString advised(const QString& what, const QString& next);
QString said_of(const QString& what, const QString& text);  ///< "gpu2: connection refused"
const QString& unknown();                                   ///< "–", for a missing figure

/// Returns plain text as HTML. Keeps line breaks, and keeps each figure on one line with its unit: Qt would
/// break a line at a narrow no-break space, so a wider one replaces it.
QString html(const QString& text);

}  // namespace ringmaster::show
