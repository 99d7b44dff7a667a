/// Lists any number of rows, one line each, with the row's number, its length and its first tokens. Reads
/// only the rows on the screen.
#pragma once

#include <QAbstractScrollArea>
#include <optional>
#include <vector>

#include "gui/data/rows_work.h"

namespace ringmaster {

class RowList : public QAbstractScrollArea {
    Q_OBJECT

  public:
    explicit RowList(QWidget* parent = nullptr);

    void setRows(OpenRowsPtr rows);
    /// Shows only these rows; nullopt shows all.
    void setFound(std::optional<std::vector<int64_t>> found);
    int64_t count() const;       ///< number of lines that can be scrolled to
    int64_t currentRow() const;  ///< chosen row of the file, or -1
    void choose(int64_t line);

  Q_SIGNALS:
    void rowChosen(qint64 row);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

  private:
    static QStringList headings();
    int lineHeight() const;
    int64_t visibleLines() const;
    int64_t rowOf(int64_t line) const;
    void fitScrollBar();
    void paintHeading();
    void paintCells(QPainter& painter, const QRect& box, const QStringList& cells, const QColor& text) const;
    void paintLine(QPainter& painter, const QRect& box, int64_t line) const;

    QWidget* m_heading;  ///< names the columns above the lines
    OpenRowsPtr m_rows;
    std::optional<std::vector<int64_t>> m_found;
    int64_t m_line = -1;
};

}  // namespace ringmaster
