/// Says in the middle of a list or table why it has no rows.
#pragma once

#include <QAbstractItemView>
#include <QLabel>

namespace ringmaster {

/// Adds a text that the view shows while it has no rows. Call it after the view has its model.
QLabel* sayIfEmpty(QAbstractItemView* view, const QString& text);

}  // namespace ringmaster
