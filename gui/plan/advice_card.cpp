#include "gui/plan/advice_card.h"

#include <QRegularExpression>

#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/plan/verdict_words.h"
#include "gui/session/mesh_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kFirst = 4;  // rows before "show all"

QString title_of(const Alternative& plan) {
    QString text = mesh_words(plan.mesh, plan.zero_stage);
    if (plan.mesh.ring > 1) text += u" \u00B7 "_s + QString::fromLatin1(to_string(plan.layout));
    return text;
}

/// Returns the text with no-break spaces before dots, crosses and numbers, so that no line starts with one
/// of them.
QString broken_well(QString text) {
    static const QRegularExpression kept(u" (?=[\\d\u00B7\u00D7])"_s);
    return text.replace(kept, QString(QChar::Nbsp));
}

QString changes_of(const Alternative& plan) {
    QStringList parts;
    for (const auto& [key, value] : plan.set)
        parts << u"%1: %2"_s.arg(QString::fromStdString(key), QString::fromStdString(value));
    return parts.join(u"\n"_s);
}

}  // namespace

AdviceCard::AdviceCard(QWidget* parent)
    : Card(tr("Other plans"), parent), m_none(mutedLabel()), m_more(quietButton({})) {
    setSubtitle(tr("ranked by predicted tokens/s"));
    m_none->setWordWrap(true);
    m_more->setObjectName(u"moreAdviceButton"_s);
    body()->addWidget(m_none);
    body()->addWidget(m_more, 0, Qt::AlignLeft);
    body()->addStretch(1);
    m_more->hide();
    m_none->setText(tr("Nothing is planned yet."));
    connect(m_more, &QPushButton::clicked, this, [this] {
        m_all = !m_all;
        write();
    });
}

void AdviceCard::setPending() {
    if (m_rows) m_rows->setEnabled(false);
}

void AdviceCard::setAdvice(const Advice& advice, const Plan& present) {
    m_advice = advice;
    m_present = present;
    write();
}

void AdviceCard::write() {
    delete m_rows;
    m_rows = new QWidget;
    auto* grid = new QGridLayout(m_rows);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(space(0.9));
    grid->setVerticalSpacing(space(0.1));
    grid->setColumnStretch(0, 1);
    int rows = 0, left_out = 0;
    bool present_is_first = false;
    for (const Alternative& plan : m_advice.plans) {
        if (plan.is_present()) {
            present_is_first = rows == 0;
        } else if (rows < kFirst || m_all) {
            addRow(plan, m_present, rows++);
        } else {
            ++left_out;
        }
    }
    body()->insertWidget(1, m_rows);
    m_rows->setVisible(rows > 0);
    m_more->setVisible(left_out > 0 || (m_all && rows > kFirst));
    m_more->setText(m_all ? tr("Show fewer") : tr("Show %n more", nullptr, left_out));
    const bool supposed = rows > 0 && !m_present.ok();
    m_none->setVisible(rows == 0 || present_is_first || supposed);
    m_none->setText(supposed          ? tr("Ranked as if the problems of the text were solved.")
                    : rows > 0        ? tr("The present plan is the fastest; these would be the next.")
                    : m_present.model ? tr("No other mesh of this text can be trained as it stands.")
                                      : tr("Nothing can be ranked: the model's shape is not known here."));
}

void AdviceCard::addRow(const Alternative& plan, const Plan& present, int row) {
    auto* grid = static_cast<QGridLayout*>(m_rows->layout());
    auto* name = new QLabel(broken_well(title_of(plan)));
    name->setFont(fontOf(Type::Section));
    name->setWordWrap(true);
    auto* why = mutedLabel(gains_words(plan, present));
    why->setWordWrap(true);
    auto* apply = new QPushButton(tr("Apply"));
    apply->setObjectName(u"applyButton-%1"_s.arg(row));
    apply->setToolTip(tr("Writes into the text:") + u'\n' + changes_of(plan));
    apply->setAccessibleName(tr("Apply %1").arg(title_of(plan)));
    apply->setAccessibleDescription(changes_of(plan));
    connect(apply, &QPushButton::clicked, this, [this, set = plan.set] { Q_EMIT settingsWanted(set); });
    const double exposed = plan.time.overhead();
    auto* rate = new QLabel(tr("%1 tokens/s").arg(show::rate(plan.tokens_per_s)));
    rate->setFont(fontOf(Type::Section));
    auto* figures = new QHBoxLayout;
    figures->setSpacing(space(0.9));
    figures->addWidget(new QLabel(show::bytes(plan.memory_total)));
    figures->addWidget(rate);
    //: share of a step spent on communication that computation does not hide
    figures->addWidget(new QLabel(tr("%1 exposed").arg(show::percent(exposed))));
    figures->addStretch(1);
    const int line = row * 4;
    grid->addWidget(name, line, 0);
    grid->addLayout(figures, line + 1, 0);
    grid->addWidget(apply, line, 1, 2, 1, Qt::AlignVCenter);
    grid->addWidget(why, line + 2, 0, 1, 2);
    grid->setRowMinimumHeight(line + 3, space(0.55));
}

}  // namespace ringmaster
