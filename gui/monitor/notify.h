/// A message on the person's desktop, where there is one that takes it; else nothing.
#pragma once

#include <QString>

namespace ringmaster {

void notifyDesktop(const QString& title, const QString& text);

}  // namespace ringmaster
