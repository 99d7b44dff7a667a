/// Opens the pages of pages.txt, filled with the configurations and runs of write_demo_runs.
#pragma once

#include <QSize>

#include "tests/gui/demo_dialogs.h"

namespace ringmaster {

/// Calls `shown` for each page in a window of that size, in the app's current language. `home` is the folder
/// of write_demo_runs. If `whole` is true, adds the pages whose names end in -whole, in windows 2,600 pixels
/// high.
void show_pages(const QString& home, QSize size, bool whole, const Shown& shown);

}  // namespace ringmaster
