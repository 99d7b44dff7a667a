/// A YAML file as text: line numbers, marks at the lines that have a problem, the problem's text behind the
/// line, colours only for what is on the screen.
#pragma once

#include <QPlainTextEdit>
#include <map>
#include <vector>

#include "engine/config/diagnostic.h"

namespace ringmaster {

class YamlEditor : public QPlainTextEdit {
    Q_OBJECT

  public:
    explicit YamlEditor(QWidget* parent = nullptr);

    QString text() const;            ///< as it is, non-breaking spaces and all
    void load(const QString& text);  ///< nothing to undo behind it
    void edit(const QString& text);  ///< what differs is changed: one step to undo
    void setMarks(const Diagnostics& diagnostics);
    int markCount(Severity severity) const;
    int currentLine() const;  ///< from 1
    void goToLine(int line);
    /// Marks every match and goes to the next; the number of matches.
    int find(const QString& what, bool backwards, bool stay);
    void clearFound();

    void paintGutter(QPaintEvent* event);
    int gutterWidth() const;
    int lineAt(int y) const;

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
    void paintMessages();
    QString keyAt(const QPoint& at) const;

    QWidget* m_gutter;
    std::map<int, Mark> m_marks;  ///< by line; the gravest of a line
    QString m_sought;
    bool m_colouring = false;
    int m_generation = 1;
};

/// Shapes that stay apart without colour: a cross in a disc, a triangle, a ring.
void paint_severity(QPainter& painter, const QRectF& into, Severity severity, const QPalette& palette);

}  // namespace ringmaster
