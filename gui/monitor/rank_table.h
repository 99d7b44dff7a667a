/// Lists the ranks in a table whose rows can be sorted and chosen. Users who cannot see the charts can read
/// the figures here.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <vector>

#include "gui/monitor/run_picture.h"

namespace ringmaster {

class RankTableModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    enum Column {
        Rank,
        Host,
        Device,
        MeshPlace,
        Step,
        Loss,
        StepSeconds,
        Wait,
        Comm,
        Exposed,
        Memory,
        Heard,
        Columns
    };
    enum Role { SortRole = Qt::UserRole, RankRole };

    explicit RankTableModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    /// Changes existing rows in place, so that the selection and the sort order stay.
    void setRows(const std::vector<RankRow>& rows, double now);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    QString text(const RankRow& row, int column) const;
    QVariant key(const RankRow& row, int column) const;

    std::vector<RankRow> m_rows;
    double m_now = 0;
};

/// Makes the columns as wide as their texts and shares the remaining width among them. The mesh is shown if
/// there are several ranks. In a narrow window, device and host are hidden if all ranks have the same, then
/// the time since a rank last wrote, then the communication time.
void fitRankColumns(QTableView& table, const std::vector<RankRow>& rows);

/// Sorts unknown figures last in both directions.
class RankSorter : public QSortFilterProxyModel {
    Q_OBJECT

  public:
    explicit RankSorter(QObject* parent = nullptr) : QSortFilterProxyModel(parent) {
        setSortRole(RankTableModel::SortRole);
    }

  protected:
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
};

}  // namespace ringmaster
