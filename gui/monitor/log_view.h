/// Shows the output of a run: the logs of all ranks and the events merged by time, or one rank's. The text
/// can be searched; the first error is pinned on top.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <QWidget>
#include <optional>
#include <vector>

#include "gui/monitor/log_line.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QTreeView;

namespace ringmaster {

class LogModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    enum Column { Time, Rank, Text, Columns };
    enum Role { RankRole = Qt::UserRole, KindRole };
    static constexpr int kMostLines = 5000;

    explicit LogModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void clear();
    /// Adds lines, which must be in order of time. Drops the oldest lines if there are too many.
    void add(const std::vector<LogLine>& lines);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    std::vector<LogLine> m_lines;
};

class LogFilter : public QSortFilterProxyModel {
    Q_OBJECT

  public:
    static constexpr int kAll = -2, kProblems = -3;

    explicit LogFilter(QObject* parent = nullptr) : QSortFilterProxyModel(parent) {}
    void setRank(int rank);  ///< kAll, kProblems, -1 (the agent), or a rank
    void setText(const QString& text);

  protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

  private:
    int m_rank = kAll;
    QString m_text;
};

class LogView : public QWidget {
    Q_OBJECT

  public:
    explicit LogView(QWidget* parent = nullptr);

    void clear();
    void setRanks(int ranks);
    void add(const std::vector<LogLine>& lines);
    void setFirstError(const std::optional<LogLine>& line);
    void showRank(int rank);  ///< -1: all ranks
    LogModel* model() { return m_model; }
    QLineEdit* search() { return m_search; }

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void setColours();

    LogModel* m_model;
    LogFilter* m_filter;
    QComboBox* m_rank;
    QLineEdit* m_search;
    QLabel* m_error;
    QTreeView* m_list;
};

}  // namespace ringmaster
