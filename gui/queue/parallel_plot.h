/// Draws the results of a sweep as parallel coordinates: an axis for each key and one for the final loss, a
/// line for each run. The colour of a line says how great its loss is; the legend below shows the scale.
///
/// Mouse: the line under the pointer is highlighted, a click chooses it, a drag along an axis keeps only the
/// lines that pass there. Keyboard: up and down go through the runs from the lowest loss to the highest, left
/// and right choose an axis, Shift with up or down limits that axis to one value after another, Enter opens
/// the run, Escape removes all limits.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "gui/look/tip_widget.h"
#include "launcher/queue/queue_edit.h"

namespace ringmaster {

/// Holds an axis of the plot: values as the user wrote them, each with its place from 0 (bottom) to 1 (top).
struct SweepAxis {
    QString name;
    std::vector<std::pair<double, QString>> ticks;  ///< from bottom to top
};

/// Holds a run's place on each axis; nullopt if the run has no value there.
struct SweepLine {
    QString dir, name;
    std::vector<std::optional<double>> places;
    std::vector<QString> values;
    std::optional<double> loss;
    bool is_over = false;  ///< false: the run has not ended, so its loss is not final
};

struct SweepPicture {
    std::vector<SweepAxis> axes;  ///< the last axis is the loss
    std::vector<SweepLine> lines;
};

/// Returns the plot of the queue's runs that belong to a sweep. Numbers are placed by size, or by their
/// logarithm if the largest is more than 20 times the smallest; other values are placed at equal distances.
/// The plot has no axes if fewer than two runs have keys.
SweepPicture sweep_picture(const std::vector<std::pair<QueuedRun, RunSummary>>& runs,
                           const std::vector<std::string>& keys);

class ParallelPlot : public TipWidget {
    Q_OBJECT

  public:
    explicit ParallelPlot(QWidget* parent = nullptr);

    void setPicture(const SweepPicture& picture);
    void choose(const QString& dir);  ///< highlights the run in this folder; if empty, highlights none
    QString chosen() const { return m_chosen; }
    /// Returns the range of an axis through which lines have to pass; nullopt: the whole axis.
    std::optional<std::pair<double, double>> limits(size_t axis) const;
    std::vector<QString> shown() const;  ///< folders of the runs that pass all limits

    QPointF pointOf(size_t line, size_t axis) const;  ///< for tests; the line must have a value there
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

  Q_SIGNALS:
    void runChosen(const QString& dir);
    void runOpened(const QString& dir);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void leaveEvent(QEvent* event) override;
    QString tipAt(const QPoint& at) const override;

  private:
    struct Brush {
        size_t axis = 0;
        double from = 0, to = 0;  ///< y in pixels
    };
    QRectF area() const;
    QStringList titleOf(size_t axis) const;
    double legendHeight() const;
    double xOf(size_t axis) const;
    double placeAt(double y) const;
    bool passes(const SweepLine& line) const;
    const SweepLine* lineOf(const QString& dir) const;
    const SweepLine* lineAt(const QPointF& at) const;
    std::optional<size_t> axisAt(const QPointF& at) const;
    std::vector<const SweepLine*> byLoss() const;
    void stepThrough(int by);
    void stepLimit(int by);
    void describe();
    QString wordsOf(const SweepLine& line) const;
    void drawLine(QPainter& painter, const SweepLine& line) const;
    void drawAxis(QPainter& painter, size_t axis) const;
    void drawLegend(QPainter& painter) const;
    QColor colourOf(double place) const;

    SweepPicture m_picture;
    QString m_chosen, m_hovered;  ///< folders of runs; empty: none
    std::map<size_t, std::pair<double, double>> m_limits;
    size_t m_axis = 0;  ///< axis that the keyboard has chosen
    std::optional<Brush> m_brush;
};

}  // namespace ringmaster
