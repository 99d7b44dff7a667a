#include "gui/look/scrolled.h"

#include <QEvent>
#include <QScrollBar>
#include <algorithm>

namespace ringmaster {

namespace {

/// Scrolls vertically. Its minimum width fits its content without horizontal scrolling, but is at most `most`
/// pixels.
class WholeWidth : public QScrollArea {
  public:
    WholeWidth(int most, QWidget* parent) : QScrollArea(parent), m_most(most) {}

    QSize minimumSizeHint() const override {
        const int whole = widget() == nullptr ? 0 : widget()->minimumSizeHint().width();
        return {std::min(whole + verticalScrollBar()->sizeHint().width(), m_most),
                QScrollArea::minimumSizeHint().height()};
    }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (watched == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
        return QScrollArea::eventFilter(watched, event);
    }

  private:
    int m_most;
};

QScrollArea* set_up(QScrollArea* scroll, QWidget* inside) {
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(inside);
    inside->setAutoFillBackground(false);
    scroll->viewport()->setAutoFillBackground(false);
    return scroll;
}

}  // namespace

QScrollArea* scrolled(QWidget* inside, QWidget* parent) {
    return set_up(new QScrollArea(parent), inside);
}

QScrollArea* scrolled_whole(QWidget* inside, int most, QWidget* parent) {
    QScrollArea* scroll = set_up(new WholeWidth(most, parent), inside);
    if (most < QWIDGETSIZE_MAX) scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    return scroll;
}

}  // namespace ringmaster
