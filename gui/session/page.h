/// A page of the window.
#pragma once

#include <QWidget>

namespace ringmaster {

class Page : public QWidget {
    Q_OBJECT

  public:
    using QWidget::QWidget;

    /// Everything that was asked for is on the screen: a picture of it is whole. Polled by --grab and by
    /// tests.
    virtual bool settled() const { return true; }
    /// False where the person wants to keep what would be lost; asks them.
    virtual bool mayClose() { return true; }
};

}  // namespace ringmaster
