/// Ranks × time: one glance tells who is slow, and since when. Each cell is how far a rank lies from the
/// median of its column; slower and faster in two hues, no figure in none.
#pragma once

#include <QImage>
#include <QWidget>
#include <optional>
#include <vector>

#include "gui/charts/chart_data.h"

namespace ringmaster {

struct HeatData {
    std::vector<double> x;                 ///< of each column
    std::vector<std::vector<float>> rows;  ///< a rank's figures, one a column; NaN: none
    std::vector<float> median;             ///< of each column
    std::vector<QString> names;            ///< of each row: "rank 5"
    Unit xUnit = Unit::Count, unit = Unit::Seconds;
    QString xName;
};

/// Share of the median by which it differs, in -1..1 of the colour scale (full at ± 25 %); NaN: no figure.
float heatOf(float value, float median);

class HeatMap : public QWidget {
    Q_OBJECT

  public:
    explicit HeatMap(QWidget* parent = nullptr);

    void setData(HeatData heat);
    void setChosenRank(int rank);  ///< -1: none
    void setCursorX(std::optional<double> x);
    int columns() const;  ///< that it has room for
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
