/// Lists the runs of the queue in their order, with the keys of their sweep. A row is moved by dragging it,
/// or with Alt and an arrow key.
#pragma once

#include <QTableWidget>
#include <vector>

#include "launcher/queue/queue_edit.h"

namespace ringmaster {

/// Breaks a key at the underscore nearest to its middle.
QString inTwoLines(const QString& key);

class QueueTable : public QTableWidget {
    Q_OBJECT

  public:
    enum Column { Place, Name, Where, State, Step, Loss, FixedColumns };

    explicit QueueTable(QWidget* parent = nullptr);

    /// Shows the runs, each with the place where it trains; the same run stays chosen.
    void setRuns(const std::vector<std::pair<QueuedRun, RunSummary>>& runs,
                 const std::vector<QueuePlace>& places, const std::vector<std::string>& keys);
    QString chosenDir() const;        ///< empty: no run is chosen
    void choose(const QString& dir);  ///< selects a run, if the table has it
    int chosenRow() const { return currentRow(); }
    void moveChosen(int by);  ///< asks for the chosen row to be moved up (below 0) or down

  Q_SIGNALS:
    void moveWanted(const QString& dir, int place);  ///< `place` counts from 0 in the list without this run
    void removeWanted();
    void opened(const QString& dir);

  protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    int gapAt(int y) const;
    int wide(int column) const;
    int shortest(int column, int wide) const;
    int shorten(int column, int wide, int less);
    void fitName();
    void fillRow(int row, const QueuedRun& queued, const RunSummary& run,
                 const std::vector<std::string>& keys);

    int m_pressed = -1;  ///< row under the pressed mouse button; -1: none
    int m_pressed_y = 0;
    int m_gap = -1;  ///< gap between rows where a dragged row would go; -1: nothing is dragged
};

}  // namespace ringmaster
