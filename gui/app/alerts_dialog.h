/// Sets where alerts are delivered: this desktop, a webhook, a command (launcher/alerts/settings.h).
#pragma once

#include <functional>
#include <map>

#include "gui/look/fitted_dialog.h"
#include "launcher/alerts/settings.h"

class QCheckBox;
class QLineEdit;
class QPushButton;

namespace ringmaster {

class Banner;

class AlertsDialog : public FittedDialog {
    Q_OBJECT

  public:
    explicit AlertsDialog(QWidget* parent = nullptr);

  protected:
    /// Writes the settings; if that fails, the dialog stays open and shows the reason.
    void accept() override;

  private:
    QWidget* makeKinds();
    AlertSettings written() const;
    bool refuses(QLineEdit* field, const std::function<void()>& check, const QString& why,
                 const QString& next);
    void say(const QString& why, const QString& next);

    Banner* m_banner;
    std::map<AlertKind, QCheckBox*> m_kinds;
    QCheckBox* m_desktop;
    QLineEdit *m_webhook, *m_command;
};

}  // namespace ringmaster
