/// The wheel scrolls: it changes a value only in a control that the person has clicked and that still has the
/// focus.
#pragma once

#include <QObject>
#include <QPointer>
#include <QWidget>

namespace ringmaster {

/// An event filter of the application. Spin boxes, combo boxes and sliders pass the wheel on to what scrolls
/// around them, and take no focus from it.
class WheelGuard : public QObject {
  public:
    static void install();  ///< A second call does nothing.

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    using QObject::QObject;

    QPointer<QWidget> m_clicked;
};

}  // namespace ringmaster
