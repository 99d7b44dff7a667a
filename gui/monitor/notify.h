/// Shows a message on the user's desktop if the desktop accepts messages; otherwise does nothing.
#pragma once

#include <QString>

namespace ringmaster {

void notifyDesktop(const QString& title, const QString& text);

}  // namespace ringmaster
