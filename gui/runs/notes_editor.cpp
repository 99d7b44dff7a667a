#include "gui/runs/notes_editor.h"

#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <utility>

#include "engine/error.h"
#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPauseMs = 700;

}  // namespace

NotesEditor::NotesEditor(QWidget* parent)
    : QWidget(parent), m_tags(new QLineEdit), m_text(new QPlainTextEdit), m_state(mutedLabel()) {
    m_tags->setObjectName(u"tagsEdit"_s);
    m_tags->setPlaceholderText(tr("Tags, with commas between them"));
    m_tags->setAccessibleName(tr("Tags"));
    m_text->setObjectName(u"notesEdit"_s);
    m_text->setPlaceholderText(tr("Notes about this run"));
    m_text->setAccessibleName(tr("Notes"));
    m_text->setTabChangesFocus(true);
    m_text->setMinimumHeight(space(3));
    m_state->setWordWrap(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, space(0.4), 0, 0);
    layout->setSpacing(space(0.4));
    layout->addWidget(m_tags);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_state);
    m_timer.setSingleShot(true);
    m_timer.setInterval(kPauseMs);
    connect(&m_timer, &QTimer::timeout, this, &NotesEditor::saveNow);
    connect(m_tags, &QLineEdit::textEdited, this, &NotesEditor::changed);
    connect(m_tags, &QLineEdit::editingFinished, this, &NotesEditor::saveNow);
    connect(m_text, &QPlainTextEdit::textChanged, this, &NotesEditor::changed);
    setEnabled(false);
}

NotesEditor::~NotesEditor() {
    saveNow();
}

RunNotes NotesEditor::written() const {
    return {m_text->toPlainText().toStdString(), parse_tags(m_tags->text().toStdString())};
}

void NotesEditor::edit(const RunDirectory& run, const RunNotes& notes) {
    if (run.dir == m_run.dir && (isChanged() || notes == m_kept)) return;  // keeps unsaved text
    saveNow();
    const bool another = run.dir != m_run.dir;
    m_run = run;
    m_kept = notes;
    const QSignalBlocker quiet_tags(m_tags), quiet_text(m_text);
    m_tags->setText(QString::fromStdString(join_tags(notes.tags)));
    m_text->setPlainText(QString::fromStdString(notes.text));
    if (another) m_state->clear();
    setEnabled(!run.dir.empty());
}

void NotesEditor::changed() {
    m_isChanged = true;
    m_state->setText(tr("Not saved yet"));
    m_timer.start();
}

void NotesEditor::saveNow() {
    m_timer.stop();
    const bool was_changed = std::exchange(m_isChanged, false);
    const RunNotes now = written();
    if (m_run.dir.empty() || now == m_kept) {
        if (was_changed) m_state->clear();
        return;
    }
    try {
        write_run_notes(m_run, now);
        m_kept = now;
        m_state->setText(tr("Saved in notes.json"));
        Q_EMIT saved();
    } catch (const Error& problem) {
        m_state->setText(text_of(problem));
    }
}

}  // namespace ringmaster
