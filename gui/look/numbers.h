/// Figures as people read them, in the app's language. Bytes are GiB and MiB, times seconds to days.
#pragma once

#include <QString>
#include <cstdint>

namespace ringmaster::show {

QString count(int64_t number);                 ///< "1,048,576"
QString number(double value, int digits = 3);  ///< significant digits: "0.0001", "2.71"
QString bytes(int64_t number);                 ///< "61.4 GiB", "812 MiB"
QString duration(double seconds);              ///< "0.41 s", "12 s", "1 min 40 s", "3 h 5 min", "2 d 4 h"
QString percent(double share);                 ///< 0.061 -> "6.1 %"
QString rate(double per_second);               ///< "812", "19.8k", "1.2M"
QString loss(double value);                    ///< "2.7142"
QString time(double unix_seconds);             ///< local date and time, short
QString age(double seconds);                   ///< "now", "12 s ago", "3 min ago"
const QString& unknown();                      ///< "–": where there is no figure

}  // namespace ringmaster::show
