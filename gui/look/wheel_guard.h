/// Keeps the mouse wheel for scrolling: it changes a value only in a control that the user has clicked and
/// that still has the focus.
#pragma once

#include <QObject>
#include <QPointer>
#include <QWidget>

namespace ringmaster {

/// Filters events of the application. Spin boxes, combo boxes and sliders pass the wheel on to the view that
/// scrolls around them, and do not take focus from it.
class WheelGuard : public QObject {
  public:
    static void install();  ///< installs the filter; a second call does nothing

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    using QObject::QObject;

    QPointer<QWidget> m_clicked;
};

}  // namespace ringmaster
