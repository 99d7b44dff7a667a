/// Units of figures that are written already, in the app's language; figures as a whole are numbers.h's.
#pragma once

#include <QString>

namespace ringmaster::show {

QString seconds(const QString& figure);       ///< "0.25 s"
QString milliseconds(const QString& figure);  ///< "20 ms"

}  // namespace ringmaster::show
