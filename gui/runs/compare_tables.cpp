#include "gui/runs/compare_tables.h"

#include <QApplication>
#include <QFont>
#include <QPainter>
#include <QPalette>
#include <cmath>

#include "gui/look/look.h"
#include "gui/look/numbers.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

QPixmap dotOf(int run) {
    const int side = space(0.7);
    QPixmap dot(side + space(0.25), side);  // with a gap before the run's name
    dot.fill(Qt::transparent);
    QPainter(&dot).fillRect(0, 0, side, side, rankColour(run, coloursOf(QApplication::palette())));
    return dot;
}

QVariant runHeader(const QStringList& runs, int section, int role, const QString& first) {
    if (section == 0) return role == Qt::DisplayRole ? QVariant(first) : QVariant();
    if (section > runs.size()) return {};
    if (role == Qt::DisplayRole || role == Qt::ToolTipRole) return runs[section - 1];
    if (role == Qt::DecorationRole) return dotOf(section - 1);
    return {};
}

}  // namespace

QString titleOf(ComparedFigure figure) {
    switch (figure) {
        case ComparedFigure::LastLoss:
            return FiguresModel::tr("Last loss");
        case ComparedFigure::BestLoss:
            return FiguresModel::tr("Best loss");
        case ComparedFigure::LastEvalLoss:
            return FiguresModel::tr("Evaluation loss");
        case ComparedFigure::LastReward:
            return FiguresModel::tr("Last reward");
        case ComparedFigure::TokensPerSecond:
            return FiguresModel::tr("Tokens/s");
        case ComparedFigure::StepTime:
            return FiguresModel::tr("Step time");
        case ComparedFigure::Overhead:
            return FiguresModel::tr("Exposed communication");
        case ComparedFigure::PeakMemory:
            return FiguresModel::tr("Peak memory");
        case ComparedFigure::Duration:
            return FiguresModel::tr("Duration");
        case ComparedFigure::MemoryOverEstimate:
            return FiguresModel::tr("Memory ÷ estimate");
        case ComparedFigure::TimeOverEstimate:
            break;
    }
    return FiguresModel::tr("Step time ÷ estimate");
}

QString valueText(ComparedFigure figure, double value) {
    switch (figure) {
        case ComparedFigure::LastLoss:
        case ComparedFigure::BestLoss:
        case ComparedFigure::LastEvalLoss:
        case ComparedFigure::LastReward:
            return show::loss(value);
        case ComparedFigure::TokensPerSecond:
            return show::rate(value);
        case ComparedFigure::StepTime:
        case ComparedFigure::Duration:
            return show::duration(value);
        case ComparedFigure::Overhead:
            return show::percent(value);
        case ComparedFigure::PeakMemory:
            return show::bytes(int64_t(std::llround(value)));
        case ComparedFigure::MemoryOverEstimate:
        case ComparedFigure::TimeOverEstimate:
            break;
    }
    return show::percent(value);
}

namespace {

QString differenceText(ComparedFigure figure, double first, double other) {
    //: %1 is a difference of percentages: from 8 % to 6 % are 2 points
    if (is_share(figure)) return FiguresModel::tr("%1 points").arg(show::points(first, other));
    const double difference = std::abs(other - first);
    return first == 0 ? valueText(figure, difference) : show::percent(difference / std::abs(first));
}

}  // namespace

QString changeText(const FigureRow& row, size_t run) {
    const Change change = row.changes[run];
    if (change == Change::Unknown || run == 0) return {};
    // If both figures read the same, their difference is too small to report.
    if (valueText(row.figure, *row.values[run]) == valueText(row.figure, *row.values[0]))
        return FiguresModel::tr("the same");
    if (change == Change::Same) return FiguresModel::tr("about the same");
    const double first = *row.values[0], other = *row.values[run];
    QString by = differenceText(row.figure, first, other);
    if (change == Change::Differs)
        by = other > first ? FiguresModel::tr("%1 more").arg(by) : FiguresModel::tr("%1 less").arg(by);
    //: %1 is a difference such as 7 % or 1.4 points
    if (change == Change::Better) by = FiguresModel::tr("better by %1").arg(by);
    //: %1 is a difference such as 7 % or 1.4 points
    if (change == Change::Worse) by = FiguresModel::tr("worse by %1").arg(by);
    return by;
}

void ComparedModel::show(const Comparison& comparison) {
    beginResetModel();
    m_shown.lines = comparison.lines;
    m_shown.figures = comparison.figures;
    m_runs.clear();
    for (const ComparedRun& run : comparison.runs) m_runs << QString::fromStdString(run.row.name);
    endResetModel();
}

int ComparedModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : rows();
}

int ComparedModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : int(m_runs.size()) + 1;
}

QVariant ComparedModel::headerData(int section, Qt::Orientation orientation, int role) const {
    return orientation == Qt::Horizontal ? runHeader(m_runs, section, role, firstHeader()) : QVariant();
}

QVariant FiguresModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) return {};
    const FigureRow& row = m_shown.figures[size_t(index.row())];
    if (index.column() == 0) return role == Qt::DisplayRole ? QVariant(titleOf(row.figure)) : QVariant();
    const size_t run = size_t(index.column()) - 1;
    const QString value = row.values[run]
                              ? show::about(valueText(row.figure, *row.values[run]), row.sampled[run])
                              : show::unknown();
    const QString change = changeText(row, run);
    switch (role) {
        case Qt::DisplayRole:
            return value;
        case Qt::AccessibleTextRole:
        case Qt::ToolTipRole:
            return QString(m_runs[qsizetype(run)] + u": "_s + value +
                           (change.isEmpty() ? QString() : u", "_s + change));
        case ChangeRole:
            return int(row.changes[run]);
        case ChangeTextRole:
            return change;
        default:
            return {};
    }
}

QVariant LinesModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) return {};
    const DifferingLine& line = m_shown.lines[size_t(index.row())];
    if (role == Qt::ForegroundRole && line.from_plan) return coloursOf(QApplication::palette()).muted;
    if (index.column() == 0) {
        if (role == Qt::DisplayRole) return QString::fromStdString(line.key);
        if (role == Qt::ToolTipRole)
            return line.from_plan ? tr("What the plan made of it") : tr("As the configuration says");
        if (role == Qt::FontRole) return fontOf(Type::Code);
        return {};
    }
    const auto& value = line.values[size_t(index.column()) - 1];
    if (role == Qt::DisplayRole || role == Qt::ToolTipRole)
        return value ? QString::fromStdString(*value) : ringmaster::show::unknown();
    if (role == Qt::FontRole) return fontOf(Type::Code);
    return {};
}

}  // namespace ringmaster
