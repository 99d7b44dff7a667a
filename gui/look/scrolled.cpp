#include "gui/look/scrolled.h"

#include <QScrollBar>

namespace ringmaster {

namespace {

/// Scrolls vertically and is never narrower than its content.
class WholeWidth : public QScrollArea {
  public:
    using QScrollArea::QScrollArea;

    QSize minimumSizeHint() const override {
        const int whole = widget() == nullptr ? 0 : widget()->minimumSizeHint().width();
        return {whole + verticalScrollBar()->sizeHint().width(), QScrollArea::minimumSizeHint().height()};
    }
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

QScrollArea* scrolled_whole(QWidget* inside, QWidget* parent) {
    return set_up(new WholeWidth(parent), inside);
}

}  // namespace ringmaster
