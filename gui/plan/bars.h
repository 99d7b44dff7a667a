/// Draws a bar of coloured parts against a limit, and its legend.
#pragma once

#include <QColor>
#include <QSlider>
#include <QWidget>
#include <vector>

#include "gui/look/tip_widget.h"

namespace ringmaster {

struct BarPart {
    QString name;
    QString figure;  ///< size as text
    double size = 0;
    QColor colour;
};

class StackedBar : public TipWidget {
    Q_OBJECT

  public:
    explicit StackedBar(QWidget* parent = nullptr);

    /// A `limit` of 0 means no limit. If `high` is above `low`, a bracket from `low` to `high` shows the
    /// range in which the sum may lie.
    void setParts(std::vector<BarPart> parts, double limit = 0, double low = 0, double high = 0);
    QSize sizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;
    QString tipAt(const QPoint& at) const override;

  private:
    double whole() const;

    std::vector<BarPart> m_parts;
    double m_limit = 0, m_low = 0, m_high = 0;
};

class BarLegend : public QWidget {
    Q_OBJECT

  public:
    explicit BarLegend(QWidget* parent = nullptr);
    void setParts(const std::vector<BarPart>& parts);
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    template <class Take>
    int arrange(int width, Take take) const;

    std::vector<BarPart> m_parts;
};

/// Shows a slider with a mark at one value.
class MarkedSlider : public QSlider {
    Q_OBJECT

  public:
    explicit MarkedSlider(QWidget* parent = nullptr);
    void setMark(double share);  ///< as a share of the slider's length; below 0: no mark
    QSize sizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    double m_mark = -1;
};

}  // namespace ringmaster
