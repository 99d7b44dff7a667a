/// Shows a row's tokens as text: trained ones underlined on a filled ground, masked ones grey, special bold.
#pragma once

#include <QTextBrowser>

#include "launcher/rows/prepared_rows.h"

namespace ringmaster {

class RowText : public QTextBrowser {
    Q_OBJECT

  public:
    explicit RowText(QWidget* parent = nullptr);
    void setRow(const ShownRow& row);
    void clearRow();

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void write();

    ShownRow m_row;
};

}  // namespace ringmaster
