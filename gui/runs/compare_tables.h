/// Provides the two tables of a comparison: figures relative to the first run, and configuration differences.
#pragma once

#include <QAbstractTableModel>

#include "launcher/history/compare.h"

namespace ringmaster {

QString titleOf(ComparedFigure figure);
/// Returns a figure as text, such as "2.7142".
QString valueText(ComparedFigure figure, double value);
/// Returns text such as "better by 12 %". Empty for the first run, and if either figure is unknown.
QString changeText(const FigureRow& row, size_t run);

/// Provides a table with a column that names what is compared, then a column for each run.
class ComparedModel : public QAbstractTableModel {
  public:
    using QAbstractTableModel::QAbstractTableModel;
    void show(const Comparison& comparison);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  protected:
    virtual int rows() const = 0;
    virtual QString firstHeader() const = 0;

    Comparison m_shown;
    QStringList m_runs;
};

class FiguresModel : public ComparedModel {
    Q_OBJECT

  public:
    enum Role { ChangeRole = Qt::UserRole, ChangeTextRole };
    using ComparedModel::ComparedModel;
    QVariant data(const QModelIndex& index, int role) const override;

  protected:
    int rows() const override { return int(m_shown.figures.size()); }
    QString firstHeader() const override { return tr("Figure"); }
};

class LinesModel : public ComparedModel {
    Q_OBJECT

  public:
    using ComparedModel::ComparedModel;
    QVariant data(const QModelIndex& index, int role) const override;

  protected:
    int rows() const override { return int(m_shown.lines.size()); }
    QString firstHeader() const override { return tr("Key"); }
};

}  // namespace ringmaster
