#include "gui/launch/stepper.h"

#include <QGridLayout>

#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

Stepper::Stepper(const QStringList& phases, QWidget* parent) : QWidget(parent) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(space(0.6));
    grid->setVerticalSpacing(space(0.35));
    grid->setColumnStretch(2, 1);
    for (const QString& phase : phases) {
        const Row row{new QLabel, new QLabel(phase), mutedLabel(), new QProgressBar};
        const int line = 2 * int(m_rows.size());
        row.symbol->setAlignment(Qt::AlignCenter);
        row.symbol->setMinimumSize(space(1), space(1.4));  // symbols may be taller than letters
        row.name->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
        row.detail->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        row.bar->setTextVisible(false);
        QSizePolicy keeps = row.bar->sizePolicy();
        keeps.setRetainSizeWhenHidden(true);
        row.bar->setSizePolicy(keeps);
        grid->addWidget(row.symbol, line, 0);
        grid->addWidget(row.name, line, 1, Qt::AlignVCenter);
        grid->addWidget(row.detail, line, 2, Qt::AlignVCenter);
        grid->addWidget(row.bar, line + 1, 1, 1, 2);
        m_rows.push_back(row);
        show(m_rows.size() - 1, State::Waiting);
    }
}

void Stepper::show(size_t phase, State state) {
    const Row& row = m_rows[phase];
    const Colours c = coloursOf(this);
    QFont font = fontOf(state == State::Working || state == State::Failed ? Type::Section : Type::Body);
    row.name->setFont(font);
    row.symbol->setText(state == State::Done      ? u"\u2713"_s
                        : state == State::Failed  ? u"\u2715"_s
                        : state == State::Working ? u"\u25CF"_s
                                                  : u"\u25CB"_s);
    const QColor colour = state == State::Done      ? c.good
                          : state == State::Failed  ? c.error
                          : state == State::Working ? c.accent
                                                    : c.muted;
    row.symbol->setStyleSheet(u"color: %1"_s.arg(colour.name()));
    row.name->setForegroundRole(state == State::Waiting ? QPalette::PlaceholderText : QPalette::WindowText);
    row.bar->setVisible(state == State::Working);
    if (state == State::Done || state == State::Failed) {
        row.detail->clear();
        row.detail->setToolTip({});
    }
    const QString said = state == State::Done      ? tr("%1: done")
                         : state == State::Failed  ? tr("%1: failed")
                         : state == State::Working ? tr("%1: at work")
                                                   : tr("%1: still to come");
    row.symbol->setAccessibleName(said.arg(row.name->text()));
}

void Stepper::reach(int phase) {
    if (phase < 0 || phase >= int(m_rows.size()) || phase <= m_current) return;
    for (int before = std::max(0, m_current); before < phase; ++before) show(size_t(before), State::Done);
    m_current = phase;
    m_rows[size_t(phase)].bar->setRange(0, 0);
    show(size_t(phase), State::Working);
}

void Stepper::finish() {
    for (size_t phase = 0; phase < m_rows.size(); ++phase) show(phase, State::Done);
}

void Stepper::fail() {
    if (m_current >= 0) show(size_t(m_current), State::Failed);
}

void Stepper::progress(const QString& what, qint64 done, qint64 total, bool is_bytes) {
    if (m_current < 0) return;
    const Row& row = m_rows[size_t(m_current)];
    const bool known = total > 0;
    row.bar->setRange(0, known ? 1000 : 0);
    if (known) row.bar->setValue(int(1000.0 * double(done) / double(total)));
    const auto counted = is_bytes ? ringmaster::show::bytes : ringmaster::show::count;
    //: progress of a step: %1 is the step, %2 the part done, %3 the whole
    const QString detail = known ? tr("%1: %2 of %3").arg(what, counted(done), counted(total)) : what;
    row.detail->setText(row.detail->fontMetrics().elidedText(detail, Qt::ElideMiddle,
                                                             std::max(space(12), row.detail->width())));
    row.detail->setToolTip(detail);
}

}  // namespace ringmaster
