/// The pieces that pages are made of. Each is named for a screen reader by its title.
#pragma once

#include <QFrame>
#include <QIcon>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace ringmaster {

/// A label that shortens its text with … where there is no room, and says it whole in its tool tip.
class ElidedLabel : public QLabel {
    Q_OBJECT

  public:
    explicit ElidedLabel(const QString& text = {}, QWidget* parent = nullptr);
    void setFullText(const QString& text);
    QString fullText() const { return m_full; }
    void setElideMode(Qt::TextElideMode mode) { m_mode = mode; }  ///< in the middle, where nobody says else
    QSize minimumSizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    QString m_full;
    Qt::TextElideMode m_mode = Qt::ElideMiddle;
};

/// A sheet with a title, a quiet subtitle, and room at the right of the title for small controls. Never put a
/// card in a card.
class Card : public QFrame {
    Q_OBJECT

  public:
    explicit Card(const QString& title = {}, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setSubtitle(const QString& subtitle);  ///< elided where there is no room; whole in its tool tip
    void addHeaderWidget(QWidget* widget);      ///< right of the title
    QVBoxLayout* body() { return m_body; }

  private:
    QLabel* m_title;
    ElidedLabel* m_subtitle;
    QHBoxLayout* m_header;
    QVBoxLayout* m_body;
};

enum class Tone { Plain, Good, Warning, Error };

/// Verdict, why, what next: one coloured line that wraps, with its own symbol, and buttons for what next.
class Banner : public QFrame {
    Q_OBJECT

  public:
    explicit Banner(QWidget* parent = nullptr);

    void say(Tone tone, const QString& verdict, const QString& why = {}, const QString& next = {});
    QPushButton* addAction(const QString& text);  ///< at the right; gone with the next clearActions()
    void clearActions();
    QString text() const;

  protected:
    void changeEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    void write();

    Tone m_tone = Tone::Plain;
    QString m_verdict, m_why, m_next;
    QLabel* m_text;
    QHBoxLayout* m_actions;
};

/// A figure and under it what it is: "11,512" over "tokens/s".
class Figure : public QWidget {
    Q_OBJECT

  public:
    explicit Figure(const QString& caption, QWidget* parent = nullptr);
    void setValue(const QString& value);
    void setCaption(const QString& caption);

  private:
    QLabel* m_value;
    QLabel* m_caption;
};

/// Top of a page: title, quiet subtitle, and at the right the page's actions.
class PageHeader : public QWidget {
    Q_OBJECT

  public:
    explicit PageHeader(QWidget* parent = nullptr);
    void setTitle(const QString& title);
    void setSubtitle(const QString& subtitle);
    void addAction(QWidget* widget);
    QString title() const;

  private:
    ElidedLabel* m_title;
    ElidedLabel* m_subtitle;
    QHBoxLayout* m_actions;
};

/// What a page or card says where it has nothing to show yet: what it is for, and the button that fills it.
class EmptyView : public QWidget {
    Q_OBJECT

  public:
    EmptyView(const QString& title, const QString& text, QWidget* parent = nullptr);
    QPushButton* addAction(const QString& text);

  private:
    QHBoxLayout* m_actions;
};

QPushButton* primaryButton(const QString& text, QWidget* parent = nullptr);  ///< the one thing to press
QPushButton* quietButton(const QString& text, QWidget* parent = nullptr);    ///< looks like a link
QLabel* mutedLabel(const QString& text = {}, QWidget* parent = nullptr);     ///< small, explains

}  // namespace ringmaster
