/// Our own line icons (resources/icons/*.svg, drawn in currentColor), in the colours of the palette.
#pragma once

#include <QIcon>
#include <QString>

namespace ringmaster {

/// "start", "plan", "monitor", "runs", "help", … as the files are called; follows the palette of its moment.
QIcon icon(const QString& name);
QIcon icon(const QString& name, const QColor& colour);

}  // namespace ringmaster
