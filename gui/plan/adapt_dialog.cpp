#include "gui/plan/adapt_dialog.h"

#include <QDialogButtonBox>
#include <QLabel>
#include <QPushButton>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "engine/config/finding_record.h"
#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

QString html(const std::string& text) {
    return show::html(QString::fromStdString(text));
}

QString diff_of(const Adaptation& step, const Colours& colours) {
    QString lines;
    for (const ChangedLine& line : step.lines) {
        lines += u"<span style=\"color:%1\">%2 %3</span>\n"_s.arg(
            (line.comes ? colours.good : colours.error).name(), line.comes ? u"+"_s : u"\u2212"_s,
            html(line.text));
    }
    return u"<pre style=\"margin-top:%1px; margin-bottom:%2px\">%3</pre>"_s.arg(space(0.9))
        .arg(space(0.2))
        .arg(lines);
}

/// Returns a line that explains the change above it, with a full stop.
QString note(const QString& text) {
    return u"<p style=\"margin-top:0; margin-bottom:%1px\">%2</p>"_s.arg(space(0.15))
        .arg(show::html(show::ended(text)));
}

}  // namespace

AdaptDialog::AdaptDialog(const Adapted& adapted, QWidget* parent) : QDialog(parent) {
    const bool runs = adapted.missing.empty();
    setObjectName(u"adaptDialog"_s);
    setWindowTitle(tr("Make it run"));
    setMinimumSize(space(36), space(28));
    auto* head =
        new QLabel(runs ? tr("With these changes the plan works.") : tr("The plan does not work yet."));
    head->setFont(fontOf(Type::Title));
    head->setWordWrap(true);

    const Colours colours = coloursOf(this);
    const std::string words = finding_language();
    QString text;
    for (const Adaptation& step : adapted.steps) {
        text += diff_of(step, colours) + note(QString::fromStdString(message_in(words, step.finding)));
        const QString effect = QString::fromStdString(effect_in(words, step.finding, step.fix));
        if (!effect.isEmpty()) text += note(tr("Result: %1").arg(effect));
        if (step.after.memory_bytes && step.before.memory_bytes != step.after.memory_bytes)
            text += note(tr("Memory of the fullest rank: %1").arg(show::bytes(*step.after.memory_bytes)));
        // An effect says itself how the batch changes.
        const auto& before = step.before.global_batch;
        const auto& after = step.after.global_batch;
        if (effect.isEmpty() && before && after && before != after)
            text += note(tr("Global batch: %1 instead of %2").arg(show::count(*after), show::count(*before)));
    }
    for (const Diagnostic& said : adapted.missing)
        text += u"<p><b>%1</b> %2</p>"_s.arg(
            tr("Missing:"), show::html(show::ended(QString::fromStdString(message_in(words, said)))));

    auto* changes = new QTextBrowser;
    changes->setObjectName(u"adaptChanges"_s);
    changes->setAccessibleName(tr("Changes"));
    changes->setHtml(text);
    auto* cancel = new QPushButton(tr("Cancel"));
    cancel->setObjectName(u"adaptCancelButton"_s);
    auto* apply = primaryButton(tr("Apply"));
    apply->setObjectName(u"adaptApplyButton"_s);
    apply->setEnabled(!adapted.steps.empty());
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(apply, &QPushButton::clicked, this, &QDialog::accept);

    auto* buttons = twoButtons(apply, cancel);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(1.4), space(1.2), space(1.4), space(1.2));
    layout->setSpacing(space(0.8));
    layout->addWidget(head);
    layout->addWidget(changes, 1);
    layout->addWidget(buttons);
}

}  // namespace ringmaster
