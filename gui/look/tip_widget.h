/// Defines the base class of pictures that explain the point under the mouse in a tool tip.
#pragma once

#include <QWidget>

namespace ringmaster {

class TipWidget : public QWidget {
  public:
    using QWidget::QWidget;

  protected:
    /// Returns the tool tip for a point of the widget; empty: no tool tip.
    virtual QString tipAt(const QPoint& at) const = 0;
    bool event(QEvent* event) override;
};

}  // namespace ringmaster
