/// Whether the desktop wants light or dark, where Qt's platform does not say so by its palette.
#pragma once

class QPalette;

namespace ringmaster {

/// True where the platform brought a palette of its own (a theme), rather than Qt's built-in grey.
bool desktopHasOwnPalette(const QPalette& palette);

/// The desktop portal's colour scheme (org.freedesktop.appearance); false where nobody answers.
bool systemPrefersDark();

}  // namespace ringmaster
