// Opens and saves the Plan page's file, keeps its draft, and notices changes by other programs.
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>

#include "engine/error.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/plan/plan_page.h"
#include "gui/plan/yaml_editor.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

void PlanPage::openFile(const QString& file) {
    const QString path = QFileInfo(file).absoluteFilePath();
    if (m_open && path == m_file && !isEdited() && m_saved == m_format.bytes()) {
        fileChanged();
        return;
    }
    if (!askToSave()) return;
    try {
        const QByteArray bytes = read_config_bytes(path);
        const FileText text = text_of_bytes(bytes, path);
        m_notice->hide();
        present(text, path, {});
        m_saved = bytes;
        m_session.addRecentFile(path);
        watchFile();
        offerDraft();
    } catch (const std::exception& problem) {
        complain(problem);
    }
}

void PlanPage::openText(const QString& text, const QString& base_dir) {
    if (!askToSave()) return;
    FileText shown;
    shown.text = text;
    shown.text.replace(u"\r\n"_s, u"\n"_s);
    m_notice->hide();
    present(shown, {}, base_dir);
    m_saved.clear();
    watchFile();
    m_editor->document()->setModified(true);
}

void PlanPage::present(const FileText& text, const QString& file, const QString& base_dir) {
    if (m_open && file != m_file) m_topology->choose({});  // the choice belonged to another file
    m_kept.forget();
    m_file = file;
    m_base_dir = base_dir;
    m_format = text;
    m_open = true;
    m_answer.reset();
    m_drafts.forget();
    m_draft_timer.stop();
    m_stack->setCurrentIndex(1);
    m_board->clear();
    m_problems->setProblems({});
    m_editor->load(text.text);
    m_draft_timer.stop();
    m_editor->goToLine(1);
    m_editor->setFocus();
    writeHeader();
    replan();
}

bool PlanPage::save() {
    if (!m_open) return false;
    return m_file.isEmpty() ? saveAs() : saveTo(m_file);
}

bool PlanPage::saveAs() {
    if (!m_open) return false;
    const QString start = m_file.isEmpty() ? m_base_dir + u"/config.yaml"_s : m_file;
    const QString file = QFileDialog::getSaveFileName(
        this, tr("Save the configuration"), start, tr("YAML (*.yaml *.yml)") + u";;"_s + tr("All files (*)"));
    return !file.isEmpty() && saveTo(QFileInfo(file).absoluteFilePath());
}

bool PlanPage::saveTo(const QString& file) {
    try {
        const QByteArray bytes = m_format.bytesOf(m_editor->text());
        save_bytes(file, bytes);
        m_saved = bytes;
        m_notice->hide();
        const bool moved = file != m_file;
        m_file = file;
        m_editor->document()->setModified(false);
        m_drafts.forget();
        m_draft_timer.stop();
        m_session.addRecentFile(file);
        watchFile();
        writeHeader();
        if (moved) replan();
        return true;
    } catch (const std::exception& problem) {
        complain(problem);
        return false;
    }
}

bool PlanPage::askToSave() {
    if (!isEdited()) return true;
    QMessageBox box(this);
    box.setObjectName(u"unsavedBox"_s);
    box.setWindowTitle(tr("Edits are not saved"));
    box.setText(tr("Save the changes to %1?")
                    .arg(m_file.isEmpty() ? tr("the unsaved copy") : QFileInfo(m_file).fileName()));
    QPushButton* yes = box.addButton(tr("Save"), QMessageBox::AcceptRole);
    QPushButton* no = box.addButton(tr("Discard"), QMessageBox::DestructiveRole);
    QPushButton* stay = box.addButton(tr("Cancel"), QMessageBox::RejectRole);
    box.setDefaultButton(yes);
    box.setEscapeButton(stay);
    box.exec();
    if (box.clickedButton() == yes) return save();
    if (box.clickedButton() != no) return false;
    m_draft_timer.stop();
    m_drafts.forget();
    return true;
}

bool PlanPage::mayClose() {
    const bool may = askToSave();
    if (may) m_drafts.forget();
    return may;
}

void PlanPage::watchFile() {
    if (!m_watcher.files().isEmpty()) m_watcher.removePaths(m_watcher.files());
    if (!m_file.isEmpty()) m_watcher.addPath(m_file);
}

void PlanPage::fileChanged() {
    const QString file = m_file;
    if (QFileInfo::exists(file) && !m_watcher.files().contains(file)) m_watcher.addPath(file);
    try {
        const QByteArray bytes = read_config_bytes(file);
        if (bytes == m_saved) return;
        const FileText text = text_of_bytes(bytes, file);
        say(Tone::Warning, tr("The file has changed on the disk."),
            isEdited() ? tr("Reloading replaces your edits; undo brings them back.") : QString());
        QPushButton* reload = m_notice->addAction(tr("Reload"));
        reload->setObjectName(u"reloadButton"_s);
        connect(reload, &QPushButton::clicked, this, [this, text, bytes] {
            m_notice->hide();
            m_format = text;
            m_saved = bytes;
            m_editor->edit(text.text);
            m_editor->document()->setModified(false);
        });
    } catch (const std::exception& problem) {
        complain(problem);  // missing or not text: the page stays as it is
        m_editor->document()->setModified(true);
    }
}

void PlanPage::keepDraft() {
    if (!isEdited()) {
        m_drafts.forget();
        return;
    }
    try {
        m_drafts.keep({m_file, m_base_dir, m_editor->text(), 0, {}});
    } catch (const Error& error) {
        Q_EMIT m_session.notice(tr("Unsaved edits could not be kept: %1").arg(text_of(error)));
    }
}

void PlanPage::offerDraft() {
    const auto draft = m_drafts.orphan(m_file);
    m_draft_notice->setVisible(draft.has_value());
    if (!draft) return;
    const QString name = draft->file.isEmpty() ? tr("an unsaved copy") : QFileInfo(draft->file).fileName();
    m_draft_notice->clearActions();
    m_draft_notice->say(Tone::Warning, tr("Edits were not saved."),
                        tr("The app ended while %1 was edited (%2).").arg(name, show::time(draft->saved_at)));
    QPushButton* restore = m_draft_notice->addAction(tr("Restore"));
    restore->setObjectName(u"restoreDraftButton"_s);
    QPushButton* discard = m_draft_notice->addAction(tr("Discard"));
    discard->setObjectName(u"discardDraftButton"_s);
    connect(discard, &QPushButton::clicked, this, [this, draft = *draft] {
        Drafts::discard(draft);
        offerDraft();
    });
    connect(restore, &QPushButton::clicked, this, [this, draft = *draft] {
        const bool has_file = QFileInfo(draft.file).isFile();
        if (has_file && (m_file != draft.file || !m_open)) openFile(draft.file);
        const bool is_here = has_file && m_open && m_file == draft.file;
        if (is_here) {
            m_editor->edit(draft.text);
        } else {
            const QString folder =
                draft.file.isEmpty() ? draft.base_dir : QFileInfo(draft.file).absolutePath();
            openText(draft.text, folder);
            if (m_editor->text() != draft.text) return;  // the user kept the open text
        }
        keepDraft();  // saves the text as this window's draft before the old draft is deleted
        Drafts::discard(draft);
        offerDraft();
    });
}

// ------------------------------------------------------------ header

}  // namespace ringmaster
