/// Draws one chart: a quiet grid with round ticks, the series, and a read-out that follows the pointer or the
/// arrow keys. A drag zooms into a range of x, and a double click zooms out. The picture is drawn once for
/// new data; following the pointer only draws the read-out over the picture.
#pragma once

#include <QPixmap>
#include <QWidget>
#include <optional>

#include "gui/charts/chart_data.h"
#include "gui/charts/series_canvas.h"

namespace ringmaster {

/// Draws the triangle of a mark, with an edge that sets it off from a filled area. `foot` is the middle of
/// its lower side.
void paintTriangle(QPainter& painter, const QPointF& foot, const Colours& colours);

class Plot : public QWidget {
    Q_OBJECT

  public:
    explicit Plot(QWidget* parent = nullptr);

    void setData(ChartData chart);
    const ChartData& chart() const { return m_data; }
    /// Sets the text that is shown instead of an empty chart.
    void setEmptyText(const QString& text);
    const QString& emptyText() const { return m_empty; }

    /// Moves the read-out to x, or hides it. Emits nothing.
    void setCursorX(std::optional<double> x);
    std::optional<double> cursorX() const { return m_cursor; }

    int plotWidth() const;  ///< width that curves can use, in pixels
    QRectF plotArea() const;
    Extent yRange() const { return m_map.y; }
    /// Returns how long the last full redraw took, in milliseconds.
    double lastPaint_ms() const { return m_paint_ms; }

    /// Draws the chart as it is shown, without the read-out.
    void drawInto(QPainter& painter, const QSizeF& size, double pixelRatio);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  Q_SIGNALS:
    void cursorMoved(std::optional<double> x);
    void rangeChosen(double low, double high);
    void rangeReset();
    void rankChosen(int rank);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

  private:
    struct Frame {
        QRectF area;
        std::vector<Tick> xTicks, yTicks;
    };
    Frame frameFor(const QSizeF& size, Mapping& map) const;
    void drawFrame(QPainter& painter, const Frame& frame, const Mapping& map) const;
    void drawWhole(QPainter& painter, const QSizeF& size, double pixelRatio, Frame& frame, Mapping& map);
    void drawMarks(QPainter& painter, const Frame& frame, const Mapping& map) const;
    void drawReadOut(QPainter& painter);
    QStringList marksNear(double x) const;
    void drawSelection(QPainter& painter);
    std::vector<std::pair<const ChartSeries*, double>> readings() const;
    void moveCursor(std::optional<double> x);
    void stepCursor(int by);
    void zoom(double factor);
    void stale();
    const ChartSeries* seriesAt(const QPointF& at) const;

    ChartData m_data;
    QString m_empty;
    SeriesCanvas m_canvas;
    Mapping m_map;
    Frame m_frame;
    QPixmap m_picture;
    bool m_stale = true;
    bool m_hovered = false;
    double m_paint_ms = 0;
    double m_pointerY = -1;
    std::optional<double> m_cursor;
    std::optional<double> m_pressed;  ///< x of the start of a drag, in pixels
    double m_dragged = 0;
};

}  // namespace ringmaster
