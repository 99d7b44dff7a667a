/// Finds out if the desktop wants light or dark, in case Qt's platform does not say so in its palette.
#pragma once

class QPalette;

namespace ringmaster {

/// Returns true if the platform brought its own palette (a theme) rather than Qt's built-in grey.
bool desktopHasOwnPalette(const QPalette& palette);

/// Returns true if the desktop portal's colour scheme (org.freedesktop.appearance) is dark; false if unknown.
bool systemPrefersDark();

}  // namespace ringmaster
