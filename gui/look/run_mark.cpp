#include "gui/look/run_mark.h"

#include <QCoreApplication>
#include <QPainter>
#include <QPainterPath>
#include <QPixmap>
#include <algorithm>

#include "gui/look/numbers.h"
#include "launcher/history/run_table.h"

namespace ringmaster {

namespace {

struct RunMarks {
    Q_DECLARE_TR_FUNCTIONS(RunMarks)
};

QPolygonF triangle(const QRectF& box) {
    return QPolygonF({box.topLeft() + QPointF(box.width() * 0.14, 0), QPointF(box.right(), box.center().y()),
                      box.bottomLeft() + QPointF(box.width() * 0.14, 0)});
}

}  // namespace

RunMark runMark(RunPhase phase) {
    switch (phase) {
        case RunPhase::Queued:
            return RunMark::Waiting;
        case RunPhase::Preparing:
            return RunMark::Preparing;
        case RunPhase::Running:
            return RunMark::Running;
        case RunPhase::Stopping:
            return RunMark::Stopping;
        case RunPhase::Completed:
            return RunMark::Completed;
        case RunPhase::Stopped:
            return RunMark::Stopped;
        case RunPhase::Failed:
            break;
    }
    return RunMark::Failed;
}

RunMark runMark(const RunRow& row) {
    if (!row.problem.empty()) return RunMark::Damaged;
    return row.is_cut_short() ? RunMark::Incomplete : runMark(row.state.state);
}

RunMark runMark(const RunSummary& run) {
    return run.is_cut_short() ? RunMark::Incomplete : runMark(run.state.state);
}

QString runWord(RunMark mark) {
    switch (mark) {
        case RunMark::Waiting:
            //: state of a run
            return RunMarks::tr("waiting");
        case RunMark::Preparing:
            //: state of a run
            return RunMarks::tr("preparing");
        case RunMark::Running:
            //: state of a run
            return RunMarks::tr("running");
        case RunMark::Stopping:
            //: state of a run
            return RunMarks::tr("stopping");
        case RunMark::Completed:
            //: state of a run
            return RunMarks::tr("completed");
        case RunMark::Stopped:
            //: state of a run
            return RunMarks::tr("stopped");
        case RunMark::Failed:
            //: state of a run
            return RunMarks::tr("failed");
        case RunMark::Incomplete:
            //: state of a run
            return RunMarks::tr("incomplete");
        case RunMark::Damaged:
            break;
    }
    //: state of a run
    return RunMarks::tr("damaged");
}

QString cutShortWords(int64_t step) {
    return RunMarks::tr("Its events end at step %1, before the last.").arg(show::count(step));
}

QColor runColour(RunMark mark, const Colours& colours) {
    switch (mark) {
        case RunMark::Preparing:
        case RunMark::Running:
        case RunMark::Stopping:
            return mixed(colours.accent, colours.text, colours.dark ? 0.2 : 0.05);
        case RunMark::Completed:
            return colours.good;
        case RunMark::Failed:
            return colours.error;
        case RunMark::Incomplete:
        case RunMark::Damaged:
            return colours.warning;
        case RunMark::Waiting:
        case RunMark::Stopped:
            break;
    }
    return colours.muted;
}

void paintRunMark(QPainter& painter, const QRectF& room, RunMark mark, const Colours& colours) {
    const double side = std::min(room.width(), room.height()) * 0.62;
    const QRectF box(room.center() - QPointF(side / 2, side / 2), QSizeF(side, side));
    const QColor colour = runColour(mark, colours);
    const double line = std::max(1.5, side * 0.16);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QPen pen(colour, line, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    const QRectF inner = box.adjusted(line / 2, line / 2, -line / 2, -line / 2);
    switch (mark) {
        case RunMark::Waiting:
            painter.drawEllipse(inner);
            break;
        case RunMark::Preparing:
            painter.drawEllipse(inner);
            painter.setBrush(colour);
            painter.drawPie(inner, 90 * 16, -180 * 16);
            break;
        case RunMark::Running:
            painter.setBrush(colour);
            painter.drawPolygon(triangle(inner));
            break;
        case RunMark::Stopping:
            painter.drawRect(inner.adjusted(line * 0.3, line * 0.3, -line * 0.3, -line * 0.3));
            break;
        case RunMark::Stopped:
            painter.setBrush(colour);
            painter.drawRect(inner.adjusted(line * 0.6, line * 0.6, -line * 0.6, -line * 0.6));
            break;
        case RunMark::Completed:
            painter.drawPolyline(QPolygonF(
                {QPointF(inner.left(), inner.center().y() + inner.height() * 0.05),
                 QPointF(inner.left() + inner.width() * 0.36, inner.bottom() - inner.height() * 0.1),
                 QPointF(inner.right(), inner.top() + inner.height() * 0.12)}));
            break;
        case RunMark::Failed:
            painter.drawLine(inner.topLeft(), inner.bottomRight());
            painter.drawLine(inner.topRight(), inner.bottomLeft());
            break;
        case RunMark::Incomplete:
        case RunMark::Damaged:
            painter.drawLine(QPointF(inner.center().x(), inner.top()),
                             QPointF(inner.center().x(), inner.top() + inner.height() * 0.58));
            painter.drawPoint(QPointF(inner.center().x(), inner.bottom()));
            break;
    }
    painter.restore();
}

QIcon runIcon(RunMark mark, const Colours& colours) {
    constexpr int kSide = 64;
    QPixmap pixmap(kSide, kSide);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paintRunMark(painter, QRectF(0, 0, kSide, kSide).adjusted(-10, -10, 10, 10), mark, colours);
    QIcon made(pixmap);
    made.addPixmap(pixmap, QIcon::Selected);  // keeps its colour in a selected row
    return made;
}

}  // namespace ringmaster
