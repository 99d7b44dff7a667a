/// Defines the base class of the window's pages.
#pragma once

#include <QEvent>
#include <QWidget>

namespace ringmaster {

class Page : public QWidget {
    Q_OBJECT

  public:
    using QWidget::QWidget;

    /// Returns true if everything that the user requested is on the screen, so that a picture is complete.
    /// --grab and tests poll this function.
    virtual bool settled() const { return true; }
    /// Asks the user if something would be lost. Returns false if the user wants to keep it.
    virtual bool mayClose() { return true; }

  protected:
    void showEvent(QShowEvent* event) override {
        QWidget::showEvent(event);
        appear();
    }
    void hideEvent(QHideEvent* event) override {
        disappear();
        QWidget::hideEvent(event);
    }
    void changeEvent(QEvent* event) override {
        if (event->type() == QEvent::PaletteChange) recolour();
        QWidget::changeEvent(event);
    }

  private:
    virtual void appear() {}     ///< called when the page has come to the screen
    virtual void disappear() {}  ///< called before the page leaves the screen
    virtual void recolour() {}   ///< called when colours have changed
};

}  // namespace ringmaster
