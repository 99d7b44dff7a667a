/// Adds units, in the app's language, to figures that are already formatted. The functions of numbers.h
/// return figures with their units.
#pragma once

#include <QString>

namespace ringmaster::show {

QString seconds(const QString& figure);       ///< such as "0.25 s"
QString milliseconds(const QString& figure);  ///< such as "20 ms"

}  // namespace ringmaster::show
