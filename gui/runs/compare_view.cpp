#include "gui/runs/compare_view.h"

#include <QApplication>
#include <QButtonGroup>
#include <QCheckBox>
#include <QEvent>
#include <QHeaderView>
#include <QPainter>
#include <QPalette>
#include <QResizeEvent>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QToolButton>
#include <QtConcurrent/QtConcurrentRun>

#include "engine/error.h"
#include "gui/charts/chart_card.h"
#include "gui/look/card.h"
#include "gui/look/card_grid.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/scrolled.h"
#include "gui/runs/compare_curves.h"
#include "gui/runs/compare_tables.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr CurveKind kKinds[] = {CurveKind::Loss,      CurveKind::TokensPerSecond, CurveKind::Overhead,
                                CurveKind::GradNorm,  CurveKind::Reward,          CurveKind::ClipShare,
                                CurveKind::SamplerGap};

constexpr double kLeastColumnEms = 6;  ///< minimum width of a run's column

/// Paints a figure and, under it, how it compares with the first run's.
class ChangeDelegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Colours c = coloursOf(QApplication::palette());
        const QString change = index.data(FiguresModel::ChangeTextRole).toString();
        // Uses the margin of Qt's cells, so that the figures line up with their header.
        const int margin =
            option.widget->style()->pixelMetric(QStyle::PM_FocusFrameHMargin, &option, option.widget) + 1;
        const QRect box = option.rect.adjusted(margin, 0, -margin, 0);
        painter->save();
        if (option.state & QStyle::State_Selected)
            painter->fillRect(option.rect, mixed(c.card, c.accent, c.dark ? 0.2 : 0.12));
        painter->setPen(c.text);
        const QFontMetrics metrics(option.font);
        const QString value = index.data().toString();
        if (change.isEmpty()) {
            painter->drawText(box, Qt::AlignLeft | Qt::AlignVCenter,
                              metrics.elidedText(value, Qt::ElideRight, box.width()));
            painter->restore();
            return;
        }
        const Change kind = kindOf(index);
        const QFont small = fontOf(Type::Small);
        const QFontMetrics metrics_below(small);
        const QString below = metrics_below.elidedText(markOf(kind) + change, Qt::ElideRight, box.width());
        // Measures the texts, because fonts for Chinese and Japanese are taller than the font of these
        // metrics.
        const int high = metrics.size(Qt::TextSingleLine, value).height(),
                  high_below = metrics_below.size(Qt::TextSingleLine, below).height(),
                  top = box.top() + (box.height() - high - high_below) / 2;
        painter->drawText(QRect(box.left(), top, box.width(), high), Qt::AlignLeft, value);
        painter->setFont(small);
        painter->setPen(kind == Change::Better ? c.good : kind == Change::Worse ? c.error : c.muted);
        painter->drawText(QRect(box.left(), top + high, box.width(), high_below), Qt::AlignLeft, below);
        painter->restore();
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const QString below = markOf(kindOf(index)) + index.data(FiguresModel::ChangeTextRole).toString();
        const QSize above = QStyledItemDelegate::sizeHint(option, index);
        return {
            std::max(above.width(), QFontMetrics(fontOf(Type::Small)).horizontalAdvance(below) + space(0.6)),
            above.height()};
    }

  private:
    static Change kindOf(const QModelIndex& index) {
        return Change(index.data(FiguresModel::ChangeRole).toInt());
    }

    static QString markOf(Change kind) {
        return kind == Change::Better ? u"\u2713 "_s : kind == Change::Worse ? u"\u2715 "_s : QString();
    }
};

/// Elides the names of runs: Qt does not count the width of a section's icon when it elides the text.
class RunsHeader : public QHeaderView {
  public:
    using QHeaderView::QHeaderView;

    void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override {
        QHeaderView::initStyleOptionForIndex(option, section);
        QFont bold = font();
        bold.setBold(true);  // Qt's hint has room for a bold text
        const int beside = sectionSizeHint(section) - QFontMetrics(bold).horizontalAdvance(option->text);
        option->text = option->fontMetrics.elidedText(option->text, textElideMode(),
                                                      sectionSize(section) - std::max(beside, 0));
    }
};

/// Shows figures of runs in columns that share the table's width.
class ComparedTable : public QTableView {
  public:
    using QTableView::QTableView;

    void reset() override {
        QTableView::reset();
        fitColumns();
    }

  protected:
    void resizeEvent(QResizeEvent* event) override {
        QTableView::resizeEvent(event);
        fitColumns();
    }

  private:
    void fitColumns() {
        const int columns = model() ? model()->columnCount() : 0;
        if (columns < 2) return;
        const int widest = viewport()->width() * 2 / 5;
        const int first = std::clamp(sizeHintForColumn(0) + space(0.6), space(8), std::max(space(9), widest));
        int least = space(kLeastColumnEms);
        if (qobject_cast<FiguresModel*>(model()))  // figures are whole, lines of configurations may not be
            for (int column = 1; column < columns; ++column)
                least = std::max(least, sizeHintForColumn(column));
        const int share = std::max((viewport()->width() - first) / (columns - 1), least);
        setColumnWidth(0, first);
        for (int column = 1; column < columns; ++column) setColumnWidth(column, share);
    }
};

QTableView* readTable(QAbstractItemModel* model, const QString& name) {
    auto* table = new ComparedTable;
    table->setHorizontalHeader(new RunsHeader(Qt::Horizontal, table));
    table->setModel(model);
    table->setAccessibleName(name);
    table->setProperty("flat", true);
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setTabKeyNavigation(false);
    table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    table->verticalHeader()->hide();
    table->horizontalHeader()->setHighlightSections(false);
    table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table->horizontalHeader()->setTextElideMode(Qt::ElideMiddle);
    return table;
}

/// Makes the table high enough that the page scrolls, not the table.
void fit(QTableView* table, int rowHeight) {
    table->verticalHeader()->setDefaultSectionSize(rowHeight);
    table->setFixedHeight(table->horizontalHeader()->sizeHint().height() +
                          rowHeight * table->model()->rowCount() + space(0.9));
}

}  // namespace

CompareView::CompareView(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_header(new PageHeader),
      m_banner(new Banner),
      m_along(new QButtonGroup(this)),
      m_log(new QCheckBox),
      m_noLines(mutedLabel(tr("Nothing differs in what was asked for."))),
      m_figuresModel(new FiguresModel(this)),
      m_linesModel(new LinesModel(this)) {
    setObjectName(u"compareView"_s);
    m_figures = readTable(m_figuresModel, tr("Figures of the compared runs"));
    m_figures->setObjectName(u"compareFigures"_s);
    m_figures->setItemDelegate(new ChangeDelegate(m_figures));
    m_lines = readTable(m_linesModel, tr("Lines that differ"));
    m_lines->setObjectName(u"compareLines"_s);
    auto* back = new QPushButton(tr("All runs"));
    back->setObjectName(u"leaveCompare"_s);
    back->setShortcut(QKeySequence(Qt::Key_Escape));
    back->setToolTip(tr("Back to the table (Esc)"));
    connect(back, &QPushButton::clicked, this, &CompareView::left);
    m_header->setTitle(tr("Compare"));
    m_header->addAction(back);

    const QString titles[] = {
        tr("Loss"),   tr("Tokens/s"),       tr("Exposed communication"),     tr("Gradient norm"),
        tr("Reward"), tr("Clipped ratios"), tr("Gap to the sampling server")};
    auto* curves = new QWidget;
    auto* grid = new CardGrid(24, 2, curves);
    std::vector<Plot*> plots;
    for (size_t kind = 0; kind < std::size(kKinds); ++kind) {
        auto* card = new ChartCard(titles[kind]);
        card->setObjectName(u"compareChart%1"_s.arg(kind));
        card->setMinimumHeight(space(kind == 0 ? 18 : 13));
        grid->addCard(card, kind == 0 ? 2 : 1);
        m_charts.push_back(card);
        plots.push_back(card->plot());
        connect(card, &ChartCard::saved, this,
                [this](const QString& file) { Q_EMIT m_session.notice(tr("Saved %1.").arg(file)); });
        connect(card, &ChartCard::saveFailed, &m_session, &Session::notice);
    }
    linkCursors(plots);
    auto* figures = new Card(tr("Figures"));
    figures->setSubtitle(tr("against the first run"));
    figures->body()->addWidget(m_figures);
    auto* lines = new Card(tr("What differs"));
    lines->setSubtitle(tr("in the configuration and, grey, in the plan"));
    lines->body()->addWidget(m_lines);
    lines->body()->addWidget(m_noLines);

    auto* inside = new QWidget;
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space(0.7));
    column->addWidget(m_banner);
    column->addWidget(makeControls());
    column->addWidget(curves);
    column->addWidget(figures);
    column->addWidget(lines);
    column->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(0.7));
    layout->addWidget(m_header);
    layout->addWidget(scrolled(inside), 1);
    m_banner->hide();
    connect(&m_watcher, &QFutureWatcherBase::finished, this, &CompareView::take);
}

QWidget* CompareView::makeControls() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(0.4));
    layout->addWidget(mutedLabel(tr("X axis")));
    const QString names[] = {tr("Step"), tr("Tokens"), tr("Time")};
    const QString tips[] = {tr("Over completed steps"), tr("Over the tokens trained on"),
                            tr("Over the seconds spent in steps: without pauses, saving and evaluation")};
    for (int axis = 0; axis < 3; ++axis) {
        auto* button = new QToolButton;
        button->setText(names[axis]);
        button->setToolTip(tips[axis]);
        button->setAccessibleName(tips[axis]);
        button->setObjectName(u"along%1"_s.arg(axis));
        button->setCheckable(true);
        button->setChecked(axis == 0);
        m_along->addButton(button, axis);
        layout->addWidget(button);
    }
    m_log->setText(tr("Logarithmic"));
    m_log->setToolTip(tr("Loss on a logarithmic axis"));
    m_log->setAccessibleName(tr("Loss on a logarithmic axis"));
    m_log->setObjectName(u"compareLog"_s);
    layout->addSpacing(space(0.6));
    layout->addWidget(m_log);
    layout->addStretch(1);
    connect(m_along, &QButtonGroup::idClicked, this, &CompareView::draw);
    connect(m_log, &QCheckBox::toggled, this, &CompareView::draw);
    return row;
}

void CompareView::compare(const QStringList& dirs) {
    m_header->setSubtitle(tr("%n run(s)", nullptr, int(dirs.size())));
    std::vector<RunDirectory> runs;
    for (const QString& dir : dirs) runs.push_back(RunDirectory{dir.toStdString()});
    m_watcher.setFuture(QtConcurrent::run([runs, job = ++m_job]() -> Outcome {
        try {
            return {job, compare_runs(runs), {}};
        } catch (const Error& problem) {
            return {job, {}, text_of(problem)};
        } catch (const std::exception& unforeseen) {
            return {job, {}, QString::fromUtf8(unforeseen.what())};
        }
    }));
}

void CompareView::take() {
    const Outcome outcome = m_watcher.result();
    if (outcome.job != m_job) return;
    m_taken = m_job;
    m_comparison = outcome.comparison;
    m_figuresModel->show(m_comparison);
    m_linesModel->show(m_comparison);
    m_lines->setVisible(!m_comparison.lines.empty());
    m_noLines->setVisible(m_comparison.lines.empty());
    showProblems(outcome.problem);
    draw();
    fitTables();
}

void CompareView::showProblems(const QString& problem) {
    QStringList words;
    if (!problem.isEmpty()) words << problem;
    for (const ComparedRun& run : m_comparison.runs) {
        const QString name = QString::fromStdString(run.row.name);
        if (!run.row.problem.empty())
            words << show::said_of(name, error_of(run.row.problem_code, run.row.problem));
        else if (run.curves.step.empty())
            words << tr("%1 has no steps yet.").arg(name);
    }
    m_banner->setVisible(!words.isEmpty());
    m_banner->say(Tone::Warning, tr("Not everything can be compared."), show::sentences(words));
}

void CompareView::draw() {
    const auto along = Along(std::max(0, m_along->checkedId()));
    for (size_t kind = 0; kind < m_charts.size(); ++kind) {
        // Only some runs have Reward and the kinds after it.
        m_charts[kind]->setVisible(kKinds[kind] < CurveKind::Reward || hasCurve(m_comparison, kKinds[kind]));
        const int width = std::max(m_charts[kind]->plot()->plotWidth(), space(10));
        m_charts[kind]->setData(chartOf(m_comparison, kKinds[kind], along, width, m_log->isChecked()));
    }
    m_drawnWidth = width();
}

void CompareView::fitTables() {
    fit(m_figures, lineHeight(font()) + lineHeight(fontOf(Type::Small)) + space(0.8));
    fit(m_lines, QFontMetrics(font()).height() + space(0.55));
}

void CompareView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    fitTables();
}

void CompareView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitTables();
    if (m_drawnWidth != width()) draw();
}

void CompareView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange) {
        m_figures->horizontalHeader()->viewport()->update();
        m_lines->viewport()->update();
    }
    QWidget::changeEvent(event);
}

}  // namespace ringmaster
