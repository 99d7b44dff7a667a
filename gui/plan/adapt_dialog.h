/// Shows each line that has to change for a file to run here, with its reason, before the text is edited.
#pragma once

#include <QDialog>

#include "launcher/run/adapt.h"

namespace ringmaster {

class AdaptDialog : public QDialog {
    Q_OBJECT

  public:
    /// The dialog is accepted if the user wants the adapted text.
    explicit AdaptDialog(const Adapted& adapted, QWidget* parent = nullptr);
};

}  // namespace ringmaster
