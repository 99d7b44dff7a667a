/// Returns the colours of one line of YAML: keys, numbers and switches, quoted text, comments.
#pragma once

#include <QList>
#include <QString>
#include <QTextLayout>

#include "gui/look/look.h"

namespace ringmaster {

QList<QTextLayout::FormatRange> yaml_formats(const QString& line, const Colours& colours);

}  // namespace ringmaster
