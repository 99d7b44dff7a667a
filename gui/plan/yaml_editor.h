/// Edits a YAML file as text, with line numbers, marks at lines that have a problem, and the problem's text
/// after the line. Only text on the screen is coloured.
#pragma once

#include <QPlainTextEdit>
#include <QTextBlock>
#include <map>
#include <vector>

#include "engine/config/diagnostic.h"

namespace ringmaster {

class YamlEditor : public QPlainTextEdit {
    Q_OBJECT

  public:
    explicit YamlEditor(QWidget* parent = nullptr);

    QString text() const;            ///< keeps non-breaking spaces
    void load(const QString& text);  ///< replaces the text and clears the undo history
    void edit(const QString& text);  ///< changes only what differs, as one undo step
    void setMarks(const Diagnostics& diagnostics);
    int currentLine() const;  ///< counts from 1
    void goToLine(int line);
    /// Marks every match and goes to the next. Returns the number of matches.
    int find(const QString& what, bool backwards, bool stay);
    void clearFound();

    void paintGutter(QPaintEvent* event);
    int gutterWidth() const;
    int wantedHeight() const;           ///< height at which no line scrolls
    int widthOf(int characters) const;  ///< width at which lines of this length need no scrolling
    int lineAt(int y) const;
    /// Returns the message that is painted after a line with a problem. Empty if the line has none, if the
    /// message is only information, or if it does not fit.
    QString noteOf(int line) const;

  Q_SIGNALS:
    void lineChanged(int line);
    void fileDropped(const QString& file);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;
    bool canInsertFromMimeData(const QMimeData* source) const override;
    void insertFromMimeData(const QMimeData* source) override;

  private:
    struct Mark {
        Severity severity;
        QString message, hint;
    };

    void setUpLook();
    void colourVisible();
    void forgetColours();
    void selectLines();
    double noteLeft(const QTextBlock& block) const;
    void paintMessages();
    QString keyAt(const QPoint& at) const;

    QWidget* m_gutter;
    std::map<int, Mark> m_marks;  ///< most severe mark of each line, by line
    QString m_sought;
    bool m_colouring = false;
    int m_generation = 1;
};

/// Paints shapes that differ without colour: a cross in a disc, a triangle, a ring.
void paint_severity(QPainter& painter, const QRectF& into, Severity severity, const QPalette& palette);

}  // namespace ringmaster
