/// Lists runs as a table with one row per run; a proxy model filters and sorts it.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <vector>

#include "gui/look/run_mark.h"
#include "launcher/history/run_table.h"

namespace ringmaster {

/// Returns why the run's files cannot be read, why it is incomplete, or why it ended.
QString whyOf(const RunRow& row);

class RunsModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    enum Column {
        Name,
        State,
        Progress,
        LastLoss,
        BestLoss,
        TokensPerSecond,
        PeakMemory,
        Estimate,
        Overhead,
        Duration,
        Started,
        Model,
        MeshShape,
        Length,
        Batch,
        Tags,
        EndReason,
        ColumnCount,
    };
    enum Role { SortRole = Qt::UserRole, DirRole, SearchRole };

    using QAbstractTableModel::QAbstractTableModel;

    /// Changes existing rows in place, adds new ones and removes those that are gone.
    void setRows(const std::vector<RunRow>& rows);
    const RunRow& row(int index) const { return m_rows[size_t(index)]; }
    int rowOf(const QString& dir) const;  ///< -1: no such run
    void lookChanged();                   ///< call this after the palette has changed

    static QString title(Column column);
    static QString explanation(Column column);  ///< explains what the figure means

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    QString text(const RunRow& row, Column column) const;
    QVariant sortKey(const RunRow& row, Column column) const;
    QVariant spoken(const RunRow& row, Column column) const;
    QString tip(const RunRow& row, Column column) const;

    std::vector<RunRow> m_rows;
};

class RunsFilter : public QSortFilterProxyModel {
    Q_OBJECT

  public:
    explicit RunsFilter(QObject* parent = nullptr);
    /// Keeps runs in which every word occurs somewhere: name, model, state, tags, notes, reason.
    void setWords(const QString& text);

  protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

  private:
    QStringList m_words;
};

}  // namespace ringmaster
