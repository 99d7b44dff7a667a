/// Shows ranks × time: which ranks are slow, and since when. Each cell's colour says how far a rank lies from
/// the median of its column: one hue for slower, one for faster, no colour if the figure is missing.
#pragma once

#include <QImage>
#include <QWidget>
#include <optional>
#include <vector>

#include "gui/charts/chart_data.h"

namespace ringmaster {

struct HeatData {
    std::vector<double> x;  ///< x of each column
    /// Holds one row per rank, with a figure for each column; NaN if the rank has no figure there.
    std::vector<std::vector<float>> rows;
    std::vector<float> median;   ///< median of each column
    std::vector<QString> names;  ///< name of each row, such as "rank 5"
    Unit xUnit = Unit::Count, unit = Unit::Seconds;
    QString xName;
};

/// Returns the relative difference from the median, scaled so that ±25 % gives ±1, and clamped to -1..1.
/// Returns NaN if the value is unknown or the median is not positive.
float heatOf(float value, float median);

class HeatMap : public QWidget {
    Q_OBJECT

  public:
    explicit HeatMap(QWidget* parent = nullptr);

    void setData(HeatData heat);
    void setChosenRank(int rank);  ///< -1: no rank is chosen
    void setCursorX(std::optional<double> x);
    int columns() const;  ///< number of columns that fit
    const QImage& image() const { return m_image; }
    QString readOutAt(int row, int column) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  Q_SIGNALS:
    void rankChosen(int rank);
    void cursorMoved(std::optional<double> x);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;

  private:
    struct Frame {
        QRectF cells, legend;
        double row = 1;
    };
    Frame frame() const;
    void makeImage();
    void drawNames(QPainter& painter, const Frame& f) const;
    void drawLegend(QPainter& painter, const QRectF& at) const;
    void drawAxis(QPainter& painter, const QRectF& cells) const;
    int rowAt(const QPointF& at) const;
    int columnAt(const QPointF& at) const;

    HeatData m_data;
    QImage m_image;
    int m_chosen = -1;
    std::optional<double> m_cursor;
};

}  // namespace ringmaster
