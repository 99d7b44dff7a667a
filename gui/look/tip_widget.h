/// Draws a picture that explains the point below the mouse in a tooltip.
#pragma once

#include <QWidget>

namespace ringmaster {

class TipWidget : public QWidget {
  public:
    using QWidget::QWidget;

  protected:
    /// Returns what to show for a point of the widget; empty: nothing.
    virtual QString tipAt(const QPoint& at) const = 0;
    bool event(QEvent* event) override;
};

}  // namespace ringmaster
