/// Wraps the texts of a list's items.
#pragma once

class QListWidget;

namespace ringmaster {

/// Makes each item as high as its text, wrapped at the list's width. An item whose size hint is already set
/// keeps that size.
void wrapItems(QListWidget* list);

}  // namespace ringmaster
