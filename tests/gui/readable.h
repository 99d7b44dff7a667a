/// Finds texts of a window that a user cannot read: they are cut off, covered by another text, or English
/// although the app's language is another. Also finds tables that scroll sideways, or that are empty without
/// an explanation. Looks at widgets, headers, tabs and the cells of tables, but not at charts or other
/// drawings.
#pragma once

#include <QStringList>

class QWidget;

namespace ringmaster {

/// Returns a line for each visible text under `window` that has less room than it needs, lies outside its
/// parent, or overlaps a neighbour. An elided text counts unless its tool tip shows the rest; a card's elided
/// subtitle always counts. Also returns a line for each view that scrolls sideways or is empty.
QStringList cut_texts(QWidget& window);

/// Returns each text under `window`, including tool tips and names for screen readers, that has English words
/// such as "the". Texts in `data`, which the user wrote, are ignored.
QStringList english_texts(QWidget& window, const QStringList& data);

}  // namespace ringmaster
