/// Adds units, in the app's language, to figures that are already formatted; numbers.h formats whole figures.
#pragma once

#include <QString>

namespace ringmaster::show {

QString seconds(const QString& figure);       ///< such as "0.25 s"
QString milliseconds(const QString& figure);  ///< such as "20 ms"

}  // namespace ringmaster::show
