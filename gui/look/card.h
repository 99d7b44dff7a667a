/// Provides the widgets that pages are made of. Each widget's title is also its name for screen readers.
#pragma once

#include <QFrame>
#include <QIcon>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

class QDialogButtonBox;

namespace ringmaster {

class FlowLayout;
class HeaderLayout;

/// Elides text that does not fit, and shows the complete text in a tool tip.
class ElidedLabel : public QLabel {
    Q_OBJECT

  public:
    explicit ElidedLabel(const QString& text = {}, QWidget* parent = nullptr);
    void setFullText(const QString& text);
    QString fullText() const { return m_full; }
    void setElideMode(Qt::TextElideMode mode) { m_mode = mode; }  ///< default: middle
    QSize minimumSizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    QString m_full;
    Qt::TextElideMode m_mode = Qt::ElideMiddle;
};

/// Shows a button that elides its text if it does not fit.
class ElidedButton : public QPushButton {
    Q_OBJECT

  public:
    explicit ElidedButton(const QString& text, QWidget* parent = nullptr);
    QSize minimumSizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;
};

/// Shows a panel with a title, a subtitle, and room for small controls to the right of the title. Never put a
/// card in a card.
class Card : public QFrame {
    Q_OBJECT

  public:
    explicit Card(const QString& title = {}, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setSubtitle(const QString& subtitle);  ///< elided if needed; the tool tip has the full text
    void addHeaderWidget(QWidget* widget);      ///< adds a widget at the right of the title
    QVBoxLayout* body() { return m_body; }

  private:
    QLabel* m_title;
    ElidedLabel* m_subtitle;
    QHBoxLayout* m_header;
    QVBoxLayout* m_body;
};

enum class Tone { Plain, Good, Warning, Error };

/// Shows one coloured line that wraps: a verdict, its reason, a symbol, and buttons for what to do next.
class Banner : public QFrame {
    Q_OBJECT

  public:
    explicit Banner(QWidget* parent = nullptr);

    void say(Tone tone, const QString& verdict, const QString& why = {}, const QString& next = {});
    QPushButton* addAction(const QString& text);  ///< adds a button at the right; clearActions() removes it
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

/// Shows a figure with its name underneath: "11,512" over "tokens/s".
class Figure : public QWidget {
    Q_OBJECT

  public:
    explicit Figure(const QString& caption, QWidget* parent = nullptr);
    void setValue(const QString& value);
    void setCaption(const QString& caption);
    void wrapCaption();  ///< lets the figure be narrower than its caption

  private:
    QLabel* m_value;
    QLabel* m_caption;
};

/// Shows the top of a page: its title, its subtitle, and the page's actions on the right.
class PageHeader : public QWidget {
    Q_OBJECT

  public:
    explicit PageHeader(QWidget* parent = nullptr);
    void setTitle(const QString& title);
    void setSubtitle(const QString& subtitle);
    void addAction(QWidget* widget);

  private:
    ElidedLabel* m_title;
    ElidedLabel* m_subtitle;
    HeaderLayout* m_layout;
};

/// Lays out a page from top to bottom, with a page's margins; the header comes first.
QVBoxLayout* layOutPage(QWidget* page, PageHeader* header);
QMargins pageMargins();  ///< the same for all pages, so that they do not jump

/// Fills a page or card that has nothing to show yet: says what it is for and offers a button that fills it.
class EmptyView : public QWidget {
    Q_OBJECT

  public:
    EmptyView(const QString& title, const QString& text, QWidget* parent = nullptr);
    QPushButton* addAction(const QString& text);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    QLabel* m_body;
    FlowLayout* m_actions;
};

QPushButton* primaryButton(const QString& text, QWidget* parent = nullptr);  ///< the page's main action
void setPrimary(QPushButton* button, bool primary);  ///< makes a button the page's main action or a plain one
/// Returns a dialog's two buttons, in the order of the desktop.
QDialogButtonBox* twoButtons(QPushButton* accept, QPushButton* reject);
QPushButton* quietButton(const QString& text, QWidget* parent = nullptr);  ///< looks like a link
QLabel* mutedLabel(const QString& text = {}, QWidget* parent = nullptr);   ///< small text that explains

}  // namespace ringmaster
