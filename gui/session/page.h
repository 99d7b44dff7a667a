/// Defines the base class of the window's pages.
#pragma once

#include <QWidget>

namespace ringmaster {

class Page : public QWidget {
    Q_OBJECT

  public:
    using QWidget::QWidget;

    /// Returns true if everything that was asked for is on the screen, so that a picture is complete. --grab
    /// and tests poll it.
    virtual bool settled() const { return true; }
    /// Asks the user if something would be lost. Returns false if the user wants to keep it.
    virtual bool mayClose() { return true; }
};

}  // namespace ringmaster
