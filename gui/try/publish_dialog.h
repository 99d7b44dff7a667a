/// Asks for the repository of the Hugging Face hub that a model is uploaded to.
#pragma once

#include "gui/look/fitted_dialog.h"

class QCheckBox;
class QLineEdit;

namespace ringmaster {

class PublishDialog : public FittedDialog {
    Q_OBJECT

  public:
    /// `name` is proposed for the repository. If `has_run` is true, a run trained the model, and a model card
    /// is made.
    PublishDialog(const QString& name, bool has_run, QWidget* parent);

    QString repository() const;  ///< "owner/name"
    bool isPrivate() const;

  private:
    QLineEdit* m_repository;
    QCheckBox* m_private;
};

}  // namespace ringmaster
