/// Shows how many rows have each length, and where sequence_len lies.
#pragma once

#include "gui/look/tip_widget.h"
#include "launcher/rows/prepared_rows.h"

namespace ringmaster {

class LengthChart : public TipWidget {
    Q_OBJECT

  public:
    explicit LengthChart(QWidget* parent = nullptr);
    void setLengths(const std::vector<LengthBin>& bins, int64_t sequence_len);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

  protected:
    void paintEvent(QPaintEvent* event) override;
    QString tipAt(const QPoint& at) const override;

  private:
    QRectF plot() const;

    std::vector<LengthBin> m_bins;
    int64_t m_sequence_len = 0;
};

}  // namespace ringmaster
