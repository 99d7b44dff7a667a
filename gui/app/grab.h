/// Takes a picture of a page without a display, for documentation and tests.
#pragma once

#include <QSize>
#include <QString>

namespace ringmaster {

class MainWindow;

/// Shows the page, waits until it is settled (at most 20 s) and saves the window as a PNG. Returns false,
/// with the reason on stderr, if the picture cannot be written or the page does not settle.
bool grab_page(MainWindow& window, const QString& page, const QString& file, QSize size);

}  // namespace ringmaster
