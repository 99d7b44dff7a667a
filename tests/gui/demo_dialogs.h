/// Opens the dialogs, boxes and menus of the app, filled with realistic contents. The machines are those of
/// nodes.json in the data folder; the configurations and runs are those of write_demo_runs.
#pragma once

#include <QString>
#include <functional>

class QWidget;

namespace ringmaster {

/// Receives each open window and the name of its picture.
using Shown = std::function<void(QWidget& window, const QString& name)>;

/// Calls `shown` for each dialog, in the app's current language. `home` is the folder of write_demo_runs,
/// whose run longdocs-2 must be running.
void show_dialogs(const QString& home, const Shown& shown);

}  // namespace ringmaster
