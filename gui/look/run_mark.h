/// A run's state as a shape, a colour and a word: the same on every page.
#pragma once

#include <QIcon>
#include <QString>

#include "engine/events/run_state.h"
#include "gui/look/look.h"

class QPainter;
class QRectF;

namespace ringmaster {

enum class RunMark {
    Waiting,    ///< an empty circle: queued, or prepared and not started
    Preparing,  ///< a half circle
    Running,    ///< a triangle pointing on
    Stopping,   ///< an empty square
    Completed,  ///< a tick
    Stopped,    ///< a square
    Failed,     ///< a cross
    Damaged,    ///< an exclamation mark: its files cannot be read
};

RunMark runMark(RunPhase phase);
QString runWord(RunMark mark);  ///< "running", in the app's language
QColor runColour(RunMark mark, const Colours& colours);

/// Within a square of `box`'s height, in its middle.
void paintRunMark(QPainter& painter, const QRectF& box, RunMark mark, const Colours& colours);
QIcon runIcon(RunMark mark, const Colours& colours);

}  // namespace ringmaster
