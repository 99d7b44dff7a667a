/// The ranks as a table: to sort, to choose one from, and to read where charts cannot be seen.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
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

    /// Rows that stay are changed in place, so that a selection and a sort order survive.
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

/// Unknown figures last, whichever way it is sorted.
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
