/// A chart with its title, its legend and its menu: picture and figures of every chart can be saved.
#pragma once

#include <functional>

#include "gui/charts/plot.h"
#include "gui/look/card.h"

class QToolButton;

namespace ringmaster {

/// The series by name, each behind its dot; in as many rows as are needed, two at most.
class Legend : public QWidget {
    Q_OBJECT

  public:
    explicit Legend(QWidget* parent = nullptr);
    void setSeries(const std::vector<ChartSeries>& series);
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

    /// What *Save figures…* writes where it is more than what is drawn: every step, say. Called with the
    /// file's name; may throw Error. Without it the drawn figures are written.
    void setCsvWriter(std::function<void(const QString& file)> writer) { m_csvWriter = std::move(writer); }

    QImage picture(const QSize& size,
                   double pixelRatio = 2);  ///< with title and legend, on the card's colour
    /// Both throw Error(Refused) where the file cannot be written.
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
    QString m_title;
    std::function<void(const QString&)> m_csvWriter;
};

/// Makes the read-outs of some charts go together.
void linkCursors(const std::vector<Plot*>& plots);

}  // namespace ringmaster
