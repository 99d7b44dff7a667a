/// Provides the two tables of a comparison: figures relative to the first run, and configuration differences.
#pragma once

#include <QAbstractTableModel>

#include "launcher/compare.h"

namespace ringmaster {

QString titleOf(ComparedFigure figure);
/// Returns a figure as text, such as "2.7142".
QString valueText(ComparedFigure figure, double value);
/// Returns text such as "better by 12 %", or an empty one if there is nothing to say.
QString changeText(const FigureRow& row, size_t run);

class FiguresModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    enum Role { ChangeRole = Qt::UserRole, ChangeTextRole };
    using QAbstractTableModel::QAbstractTableModel;
    void show(const Comparison& comparison);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    QStringList m_runs;
    std::vector<FigureRow> m_rows;
};

class LinesModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    using QAbstractTableModel::QAbstractTableModel;
    void show(const Comparison& comparison);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    QStringList m_runs;
    std::vector<DifferingLine> m_lines;
};

}  // namespace ringmaster
