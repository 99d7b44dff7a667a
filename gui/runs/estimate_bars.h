/// Compares the plan's estimates with measurements: two bars per figure, on one scale, with the estimate's
/// range.
#pragma once

#include <QWidget>
#include <array>
#include <optional>
#include <vector>

#include "launcher/history/run_table.h"

namespace ringmaster {

class EstimateBars : public QWidget {
    Q_OBJECT

  public:
    explicit EstimateBars(QWidget* parent = nullptr);

    void show(const RunRow& row);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    struct Pair {
        QString title;
        std::optional<double> estimated, measured, low, high;
        QString (*form)(double);
        bool is_share = false;

        std::array<std::optional<double>, 3> values() const { return {estimated, measured, high}; }
    };
    QString judgement(const Pair& pair) const;
    double paintPair(QPainter& painter, const Pair& pair, double top) const;
    static double barHeight();
    double figureWidth() const;
    double pairHeight() const;

    std::vector<Pair> m_pairs;
};

}  // namespace ringmaster
