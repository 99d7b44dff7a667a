/// Shows a row's tokens as text: trained ones underlined on a filled ground, masked ones grey, special bold.
#pragma once

#include <QTextBrowser>

#include "launcher/rows/prepared_rows.h"

namespace ringmaster {

class RowText : public QTextBrowser {
    Q_OBJECT

  public:
    explicit RowText(QWidget* parent = nullptr);
    /// Shows a row; `hasPairs` names its documents chosen and rejected in turn.
    void setRow(const ShownRow& row, bool hasPairs = false);
    void clearRow();

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void write();

    static QString nameOf(int64_t document);
    ShownRow m_row;
    bool m_hasPairs = false;
};

}  // namespace ringmaster
