/// The two tables of a comparison: figures against the first run, and what differs in what was asked for.
#pragma once

#include <QAbstractTableModel>

#include "launcher/compare.h"

namespace ringmaster {

QString titleOf(ComparedFigure figure);
/// "2.7142"
QString valueText(ComparedFigure figure, double value);
/// "better by 12 %"; empty where there is nothing to say.
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
