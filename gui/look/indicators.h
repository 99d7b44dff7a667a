/// What check boxes and radio buttons are drawn with, also those in lists: Fusion's own have outlines darker
/// than the window, which nobody sees in the dark.
#pragma once

class QStyle;

namespace ringmaster {

/// Fusion, but for those. The application takes it.
QStyle* makeStyle();

}  // namespace ringmaster
