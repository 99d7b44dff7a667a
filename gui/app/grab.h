/// A picture of a page without anybody looking: for documentation and tests.
#pragma once

#include <QSize>
#include <QString>

namespace ringmaster {

class MainWindow;

/// Shows the page, waits until it is settled (20 s at most), saves the window as a PNG. False, with why on
/// stderr, where it cannot be written or did not settle.
bool grab_page(MainWindow& window, const QString& page, const QString& file, QSize size);

}  // namespace ringmaster
