/// Shows a chart with its title, legend and menu, which saves the picture and the figures of the chart.
#pragma once

#include <functional>

#include "gui/charts/plot.h"
#include "gui/look/card.h"

class QToolButton;

namespace ringmaster {

/// Lists the series in at most two rows, each with a dot in its colour and its name. Also explains the
/// triangles of the chart's marks.
class Legend : public QWidget {
    Q_OBJECT

  public:
    explicit Legend(QWidget* parent = nullptr);
    void setChart(const ChartData& chart);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {space(4), sizeHint().height()}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

  Q_SIGNALS:
    void rankChosen(int rank);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

  private:
    struct Entry {
        QString name;
        ColourOf colour;
        Mark mark;
        int rank;
        bool faint, strong;
        bool triangle = false;
    };
    struct Placed {
        QRectF box;
        size_t entry;
    };
    std::vector<Placed> place(double width, int& rows, bool& cut) const;

    std::vector<Entry> m_entries;
};

class ChartCard : public Card {
    Q_OBJECT

  public:
    explicit ChartCard(const QString& title, QWidget* parent = nullptr);

    void setData(const ChartData& chart);
    Plot* plot() { return m_plot; }
    Legend* legend() { return m_legend; }

    /// Sets a writer for *Save figures…* if the file should hold more than the drawn figures, for example
    /// every step. The writer gets the file's name and may throw Error. Without a writer, the drawn figures
    /// are saved.
    void setCsvWriter(std::function<void(const QString& file)> writer) { m_csvWriter = std::move(writer); }

    /// Sets the name of the run, which a saved picture shows next to its title.
    void setRun(const QString& name) { m_run = name; }

    /// Draws title, run, legend, chart and the name of its x axis, on the card's colour.
    QImage picture(const QSize& size, double pixelRatio = 2);
    /// savePicture() and saveFigures() throw Error(Refused) if the file cannot be written.
    void savePicture(const QString& file);
    void saveFigures(const QString& file);

  Q_SIGNALS:
    void saved(const QString& file);
    void saveFailed(const QString& why);

  private:
    void askAndSave(const QString& ending, const QString& filter,
                    const std::function<void(const QString&)>& save);

    Plot* m_plot;
    Legend* m_legend;
    QToolButton* m_menu;
    QString m_title, m_run;
    std::function<void(const QString&)> m_csvWriter;
};

/// Shows the read-outs of several charts at the same x.
void linkCursors(const std::vector<Plot*>& plots);

}  // namespace ringmaster
