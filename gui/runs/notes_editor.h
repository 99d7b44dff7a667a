/// Edits the notes and tags of one run, and saves them automatically a moment after the last key.
#pragma once

#include <QTimer>
#include <QWidget>

#include "launcher/history/run_notes.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;

namespace ringmaster {

class NotesEditor : public QWidget {
    Q_OBJECT

  public:
    explicit NotesEditor(QWidget* parent = nullptr);
    ~NotesEditor() override;

    /// Shows another run's notes, after saving those of the run before.
    void edit(const RunDirectory& run, const RunNotes& notes);
    void saveNow();
    bool isChanged() const { return m_isChanged; }

  Q_SIGNALS:
    void saved();

  private:
    void changed();
    RunNotes written() const;

    RunDirectory m_run;
    RunNotes m_kept;
    QLineEdit* m_tags;
    QPlainTextEdit* m_text;
    QLabel* m_state;
    QTimer m_timer;
    bool m_isChanged = false;
};

}  // namespace ringmaster
