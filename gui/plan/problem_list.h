/// Lists the problems of the text, and shows what to do about the chosen one below: its code, its hint, and a
/// button for each edit that the hint names.
#pragma once

#include <QLabel>
#include <QListWidget>
#include <QPushButton>

#include "engine/config/diagnostic.h"
#include "engine/config/edit.h"

namespace ringmaster {

class FlowLayout;

class ProblemList : public QWidget {
    Q_OBJECT

  public:
    explicit ProblemList(QWidget* parent = nullptr);

    void setProblems(const Diagnostics& problems);
    int wantedHeight() const;     ///< height at which no problem and no word of the details scrolls
    int heightOfDetails() const;  ///< height at which the details do not scroll
    void followLine(int line);    ///< chooses the first problem of that line, if there is one

  Q_SIGNALS:
    void lineWanted(int line);
    void fixWanted(const ringmaster::Fix& fix);
    void codeWanted(const QString& code);
    void wantedHeightChanged();

  protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    int heightOf(int rows) const;
    void shareRoom();
    void writeList();
    void writeDetails(int row);
    void tabFromListToFixes();
    QIcon iconOf(Severity severity) const;

    Diagnostics m_problems;
    QLabel* m_title;
    QListWidget* m_list;
    QWidget* m_details;
    QScrollArea* m_sheet;  ///< the details, which scroll
    QPushButton* m_code;
    QLabel* m_hint;
    FlowLayout* m_fixes;
    QWidget* m_fix_box;
};

/// Returns the problem's message, starting with a capital letter unless it starts with a key.
QString begun_message(const Diagnostic& said);

/// Returns text such as "context_parallel_size: 4", "Rename to sequence_len" or "Remove the line".
QString words_of(const Fix& fix);

}  // namespace ringmaster
