/// Provides the app's line icons (resources/icons/*.svg, drawn in currentColor) in the colours of the
/// palette.
#pragma once

#include <QIcon>
#include <QString>

namespace ringmaster {

/// Returns an icon by its file's name ("start", "plan", "monitor", …), in the current palette's colours.
QIcon icon(const QString& name);
QIcon icon(const QString& name, const QColor& colour);

}  // namespace ringmaster
