/// Finds texts of a window that a user cannot read: cut off, covered by another text, or English in an app
/// that speaks another language; and tables that scroll sideways or are empty without a word. Looks at
/// widgets, headers, tabs and the cells of tables, but not at charts or other drawings.
#pragma once

#include <QStringList>

class QWidget;

namespace ringmaster {

/// Returns a line for each visible text under `window` that has less room than it needs, lies outside its
/// parent, or overlaps a neighbour. A text that ends in dots counts unless its tool tip has the rest; the
/// subtitle of a card, which explains it, counts in any case.
QStringList cut_texts(QWidget& window);

/// Returns each text under `window`, tool tips and names for screen readers included, that has English words
/// such as "the" and is not in `data`, which holds what the user wrote.
QStringList english_texts(QWidget& window, const QStringList& data);

}  // namespace ringmaster
