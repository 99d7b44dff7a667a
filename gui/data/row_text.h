/// Shows a row's tokens as text. Trained tokens are underlined on a coloured background, masked tokens are
/// grey, and special tokens are bold.
#pragma once

#include <QTextBrowser>

#include "launcher/rows/prepared_rows.h"

namespace ringmaster {

class RowText : public QTextBrowser {
    Q_OBJECT

  public:
    explicit RowText(QWidget* parent = nullptr);
    /// Shows a row. If `hasPairs` is true, the row's documents are labelled chosen and rejected in turn.
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
