/// What a file needs to run here, line by line with its reason, before any of it is written into the text.
#pragma once

#include <QDialog>

#include "launcher/adapt.h"

namespace ringmaster {

class AdaptDialog : public QDialog {
    Q_OBJECT

  public:
    /// Accepted: the person wants the text as adapted.
    explicit AdaptDialog(const Adapted& adapted, QWidget* parent = nullptr);
};

}  // namespace ringmaster
