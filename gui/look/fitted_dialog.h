/// Defines the base class of dialogs that are as high as their texts need.
#pragma once

#include <QDialog>

class QVBoxLayout;

namespace ringmaster {

class FittedDialog : public QDialog {
  protected:
    explicit FittedDialog(QWidget* parent);

    QVBoxLayout* rows() const { return m_rows; }  ///< layout of the dialog, with its margins
    /// Makes the dialog as high as its texts need when they wrap at its width. The layout's size hint wraps
    /// them at a narrower width, so its height would leave a gap.
    void fitHeight();
    void showEvent(QShowEvent* event) override;

  private:
    QVBoxLayout* m_rows;
};

}  // namespace ringmaster
