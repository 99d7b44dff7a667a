/// Draws one sequence as the chunks that the ranks hold, from the plan's own layout, and each rank's share of
/// the attention.
#pragma once

#include <vector>

#include "engine/layout/layout.h"
#include "engine/plan/plan.h"
#include "gui/look/tip_widget.h"

namespace ringmaster {

class SequenceView : public TipWidget {
    Q_OBJECT

  public:
    explicit SequenceView(QWidget* parent = nullptr);

    void setPlan(const Plan& plan);
    /// Returns an empty string if the chunks are drawn, otherwise the reason why they are not.
    const QString& whyNot() const { return m_why_not; }
    double imbalance() const { return m_imbalance; }  ///< work of the busiest rank ÷ the mean
    bool hasHeightForWidth() const override { return false; }
    QSize sizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;
    QString tipAt(const QPoint& at) const override;

  private:
    int rankAt(int64_t position) const;
    double chunksHeight() const;
    void paintChunks(QPainter& painter, const QRectF& box) const;
    void paintWork(QPainter& painter, const QRectF& box) const;

    Layout m_layout;
    std::vector<double> m_work;  ///< work of each context rank; 1 is the busiest
    QString m_why_not;
    double m_imbalance = 1;
    int64_t m_shown = 0;  ///< number of positions drawn, from the first on
};

}  // namespace ringmaster
