#include "gui/monitor/log_view.h"

#include <QApplication>
#include <QComboBox>
#include <QDateTime>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPalette>
#include <QScrollBar>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/look/card.h"
#include "gui/look/look.h"

namespace ringmaster {

namespace {

using namespace Qt::Literals::StringLiterals;

QString clock(double t) {
    return t > 0 ? QDateTime::fromMSecsSinceEpoch(qint64(t * 1e3)).toString(u"HH:mm:ss"_s) : QString();
}

QString kindWord(LogLine::Kind kind) {
    if (kind == LogLine::Kind::Warning) return LogModel::tr("warning: ");
    if (kind == LogLine::Kind::Error) return LogModel::tr("error: ");
    return {};
}

}  // namespace

void LogModel::clear() {
    beginResetModel();
    m_lines.clear();
    endResetModel();
}

void LogModel::add(const std::vector<LogLine>& lines) {
    if (lines.empty()) return;
    const auto earlier = [](const LogLine& a, const LogLine& b) { return a.t < b.t; };
    const bool behind = m_lines.empty() || lines.front().t >= m_lines.back().t;
    if (behind && m_lines.size() + lines.size() <= size_t(kMostLines)) {
        beginInsertRows({}, int(m_lines.size()), int(m_lines.size() + lines.size()) - 1);
        m_lines.insert(m_lines.end(), lines.begin(), lines.end());
        endInsertRows();
        return;
    }
    beginResetModel();
    const auto old = std::ptrdiff_t(m_lines.size());
    m_lines.insert(m_lines.end(), lines.begin(), lines.end());
    std::inplace_merge(m_lines.begin(), m_lines.begin() + old, m_lines.end(), earlier);
    if (m_lines.size() > size_t(kMostLines)) {  // drops a fifth at once, so that this is rare
        const auto kept = std::ptrdiff_t(kMostLines * 4 / 5);
        m_lines.erase(m_lines.begin(), m_lines.end() - kept);
    }
    endResetModel();
}

int LogModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : int(m_lines.size());
}
int LogModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : int(Columns);
}

QVariant LogModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const LogLine& line = m_lines[size_t(index.row())];
    if (role == RankRole) return line.rank;
    if (role == KindRole) return int(line.kind);
    if (role == Qt::DisplayRole || role == Qt::ToolTipRole) {
        if (index.column() == Time) return clock(line.t);
        if (index.column() == Rank) return line.rank < 0 ? tr("agent") : tr("rank %1").arg(line.rank);
        return QString(kindWord(line.kind) + line.text);
    }
    if (role == Qt::ForegroundRole) {
        const Colours c = coloursOf(QApplication::palette());
        if (line.kind == LogLine::Kind::Error) return c.error;
        if (line.kind == LogLine::Kind::Warning) return c.warning;
        return index.column() == Text && line.kind == LogLine::Kind::RunEvent ? c.text : c.muted;
    }
    return {};
}

QVariant LogModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    return section == Time ? tr("Time") : section == Rank ? tr("From") : tr("What");
}

void LogFilter::setRank(int rank) {
    m_rank = rank;
    invalidateFilter();
}

void LogFilter::setText(const QString& text) {
    m_text = text;
    invalidateFilter();
}

bool LogFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    const QModelIndex index = sourceModel()->index(row, LogModel::Text, parent);
    const int kind = index.data(LogModel::KindRole).toInt();
    const bool isProblem = kind == int(LogLine::Kind::Warning) || kind == int(LogLine::Kind::Error);
    if (m_rank == kProblems && !isProblem) return false;
    if (m_rank >= -1 && index.data(LogModel::RankRole).toInt() != m_rank) return false;
    return m_text.isEmpty() || index.data().toString().contains(m_text, Qt::CaseInsensitive);
}

LogView::LogView(QWidget* parent)
    : QWidget(parent),
      m_model(new LogModel(this)),
      m_filter(new LogFilter(this)),
      m_rank(new QComboBox),
      m_search(new QLineEdit),
      m_error(new QLabel),
      m_list(new QTreeView) {
    m_filter->setSourceModel(m_model);
    m_rank->setObjectName(u"logRank"_s);
    m_rank->setAccessibleName(tr("Whose log"));
    m_search->setObjectName(u"logSearch"_s);
    m_search->setPlaceholderText(tr("Search the log"));
    m_search->setAccessibleName(tr("Search the log"));
    m_search->setClearButtonEnabled(true);
    m_error->setWordWrap(true);
    m_error->setTextFormat(Qt::PlainText);
    m_error->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_error->setObjectName(u"firstError"_s);
    m_error->hide();
    m_list->setModel(m_filter);
    m_list->setObjectName(u"logList"_s);
    m_list->setAccessibleName(tr("Log of the run"));
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setHeaderHidden(true);
    m_list->setProperty("flat", true);
    m_list->setFont(fontOf(Type::Code));
    m_list->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_list->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->header()->setStretchLastSection(true);
    auto* tools = new QHBoxLayout;
    tools->addWidget(m_rank);
    tools->addWidget(m_search, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(0.4));
    layout->addLayout(tools);
    layout->addWidget(m_error);
    layout->addWidget(m_list, 1);
    connect(m_search, &QLineEdit::textChanged, m_filter, &LogFilter::setText);
    connect(m_rank, &QComboBox::currentIndexChanged, this,
            [this] { m_filter->setRank(m_rank->currentData().toInt()); });
    setRanks(0);
    setColours();
}

void LogView::setColours() {
    const QFontMetrics metrics(m_list->font());
    m_list->setColumnWidth(LogModel::Time, metrics.horizontalAdvance(u"00:00:00"_s) + space(0.8));
    m_list->setColumnWidth(LogModel::Rank, metrics.horizontalAdvance(tr("rank %1").arg(1000)) + space(0.8));
    const Colours c = coloursOf(this);
    m_error->setStyleSheet(u"color: %1; background: %2; border-radius: 0.4em; padding: 0.35em 0.6em;"_s.arg(
        c.error.name(), c.errorFill.name()));
}

void LogView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange) setColours();
    QWidget::changeEvent(event);
}

void LogView::clear() {
    m_model->clear();
    setFirstError({});
    setRanks(0);
}

void LogView::setRanks(int ranks) {
    constexpr int kBefore = 3;
    if (m_rank->count() == ranks + kBefore) return;
    const QVariant chosen = m_rank->currentData();
    m_rank->clear();
    m_rank->addItem(tr("All, by time"), LogFilter::kAll);
    m_rank->addItem(tr("Warnings and errors"), LogFilter::kProblems);
    m_rank->addItem(tr("Agent"), -1);
    for (int rank = 0; rank < ranks; ++rank) m_rank->addItem(tr("Rank %1").arg(rank), rank);
    m_rank->setCurrentIndex(std::max(0, m_rank->findData(chosen)));
}

void LogView::add(const std::vector<LogLine>& lines) {
    const QScrollBar* bar = m_list->verticalScrollBar();
    const bool atEnd = bar->value() >= bar->maximum();
    m_model->add(lines);
    if (atEnd && !lines.empty()) m_list->scrollToBottom();
}

void LogView::setFirstError(const std::optional<LogLine>& line) {
    m_error->setVisible(line.has_value());
    if (!line) return;
    m_error->setText(
        tr("First error, rank %1 at %2: %3").arg(QString::number(line->rank), clock(line->t), line->text));
}

void LogView::showRank(int rank) {
    m_rank->setCurrentIndex(std::max(0, m_rank->findData(rank < 0 ? LogFilter::kAll : rank)));
}

}  // namespace ringmaster
