/// Draws check boxes and radio buttons, also in lists: the outlines of the Fusion style are darker than the
/// window, which makes them invisible in dark mode.
#pragma once

class QStyle;

namespace ringmaster {

/// Returns the Fusion style, changed to draw check boxes and radio buttons this way. The application owns it.
QStyle* makeStyle();

}  // namespace ringmaster
