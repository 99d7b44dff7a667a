/// Shows a run's state as a shape, a colour and a word, the same on every page.
#pragma once

#include <QIcon>
#include <QString>

#include "engine/events/run_state.h"
#include "gui/look/look.h"

class QPainter;
class QRectF;

namespace ringmaster {

struct RunRow;
struct RunSummary;

enum class RunMark {
    Waiting,     ///< empty circle: queued, or prepared and not started
    Preparing,   ///< half circle
    Running,     ///< triangle pointing right
    Stopping,    ///< empty square
    Completed,   ///< tick
    Stopped,     ///< filled square
    Failed,      ///< cross
    Incomplete,  ///< exclamation mark: recorded as completed, but its events end early
    Damaged,     ///< exclamation mark: the run's files cannot be read
};

RunMark runMark(RunPhase phase);
RunMark runMark(const RunRow& row);
RunMark runMark(const RunSummary& run);
QString runWord(RunMark mark);        ///< returns a word such as "running", in the app's language
QString cutShortWords(int64_t step);  ///< says why a run is incomplete; `step` is the last recorded step
QColor runColour(RunMark mark, const Colours& colours);

/// Paints the mark centred in `box`, as a square as high as the box.
void paintRunMark(QPainter& painter, const QRectF& box, RunMark mark, const Colours& colours);
QIcon runIcon(RunMark mark, const Colours& colours);

}  // namespace ringmaster
