#include "gui/look/card.h"

#include <QDialogButtonBox>
#include <QEvent>
#include <QPainter>
#include <QStyle>
#include <QStyleOptionButton>
#include <QStylePainter>
#include <algorithm>

#include "gui/look/flow_layout.h"
#include "gui/look/header_layout.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"

namespace ringmaster {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr double kLeastTextEms = 16;  ///< minimum width of the text of a page that has nothing to show
constexpr double kTitleEms = 14;      ///< minimum width of a page's title, if its text is that long

QColor toneColour(Tone tone, const Colours& c) {
    switch (tone) {
        case Tone::Good:
            return c.good;
        case Tone::Warning:
            return c.warning;
        case Tone::Error:
            return c.error;
        case Tone::Plain:
            break;
    }
    return c.text;
}

QColor toneFill(Tone tone, const Colours& c) {
    switch (tone) {
        case Tone::Good:
            return c.goodFill;
        case Tone::Warning:
            return c.warningFill;
        case Tone::Error:
            return c.errorFill;
        case Tone::Plain:
            break;
    }
    return c.card;
}

/// Returns a symbol for a tone, so that colour is not its only signal.
QString toneSymbol(Tone tone) {
    switch (tone) {
        case Tone::Good:
            return u"\u2713"_s;
        case Tone::Warning:
            return u"\u25B2"_s;
        case Tone::Error:
            return u"\u2715"_s;
        case Tone::Plain:
            break;
    }
    return {};
}

}  // namespace

Card::Card(const QString& title, QWidget* parent)
    : QFrame(parent),
      m_title(new QLabel),
      m_subtitle(new ElidedLabel),
      m_header(new QHBoxLayout),
      m_body(new QVBoxLayout) {
    m_title->setFont(fontOf(Type::Section));
    m_subtitle->setFont(fontOf(Type::Small));
    m_subtitle->setForegroundRole(QPalette::PlaceholderText);
    m_subtitle->setElideMode(Qt::ElideRight);
    m_subtitle->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_header->setSpacing(space(0.5));
    m_header->addWidget(m_title);
    m_header->addWidget(m_subtitle, 1);
    m_body->setSpacing(space(0.5));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(0.9), space(0.75), space(0.9), space(0.85));
    layout->setSpacing(space(0.6));
    layout->addLayout(m_header);
    layout->addLayout(m_body, 1);
    setTitle(title);
}

void Card::setTitle(const QString& title) {
    m_title->setText(title);
    m_title->setVisible(!title.isEmpty());
    m_subtitle->setVisible(!title.isEmpty());  // a card without a title begins with its body
    if (!title.isEmpty()) setAccessibleName(title);
}

void Card::setSubtitle(const QString& subtitle) {
    m_subtitle->setFullText(subtitle);
}

void Card::addHeaderWidget(QWidget* widget) {
    m_header->addWidget(widget);
}

ElidedLabel::ElidedLabel(const QString& text, QWidget* parent) : QLabel(parent) {
    setFullText(text);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
}

void ElidedLabel::setFullText(const QString& text) {
    m_full = text;
    setText(text);
    setToolTip(text);
    setTextFormat(Qt::PlainText);
}

QSize ElidedLabel::minimumSizeHint() const {
    const QFontMetrics metrics = fontMetrics();
    const int dots = metrics.horizontalAdvance(u"\u2026"_s) * 3;
    return {std::min(dots, metrics.horizontalAdvance(m_full)), QLabel::minimumSizeHint().height()};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    const QString shown = fontMetrics().elidedText(m_full, m_mode, contentsRect().width());
    painter.drawText(contentsRect(), int(alignment() | Qt::TextSingleLine), shown);
}

Banner::Banner(QWidget* parent) : QFrame(parent), m_text(new QLabel), m_actions(new QHBoxLayout) {
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::RichText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_actions->setSpacing(space(0.4));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(space(0.9), space(0.6), space(0.7), space(0.6));
    layout->setSpacing(space(0.8));
    layout->addWidget(m_text, 1);
    layout->addLayout(m_actions);
}

void Banner::say(Tone tone, const QString& verdict, const QString& why, const QString& next) {
    m_tone = tone;
    m_verdict = verdict;
    m_why = why;
    m_next = show::begun(next);
    write();
    setAccessibleName(text());
    update();
}

void Banner::write() {
    const Colours c = coloursOf(this);
    const QString symbol = toneSymbol(m_tone);
    QString html = u"<span style='color:%1; font-weight:600'>%2%3</span>"_s.arg(
        toneColour(m_tone, c).name(), symbol.isEmpty() ? QString() : symbol + u"&nbsp; "_s,
        show::html(m_verdict));
    const QString why = m_next.isEmpty() ? m_why : show::ended(m_why);
    if (!why.isEmpty()) html += u"&nbsp; "_s + show::html(why);
    if (!m_next.isEmpty())
        html +=
            u"&nbsp; <span style='color:%1'>%2</span>"_s.arg(c.muted.name(), show::html(show::ended(m_next)));
    m_text->setText(html);
}

QPushButton* Banner::addAction(const QString& text) {
    auto* button = new QPushButton(text);
    m_actions->addWidget(button, 0, Qt::AlignTop);
    return button;
}

void Banner::clearActions() {
    while (QLayoutItem* item = m_actions->takeAt(0)) {
        if (item->widget()) item->widget()->deleteLater();
        delete item;
    }
}

QString Banner::text() const {
    QStringList parts{m_verdict, m_why, m_next};
    parts.removeAll({});
    return parts.join(u' ');
}

void Banner::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::ApplicationPaletteChange) write();
    QFrame::changeEvent(event);
}

void Banner::paintEvent(QPaintEvent*) {
    const Colours c = coloursOf(this);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(toneFill(m_tone, c));
    painter.setPen(m_tone == Tone::Plain ? c.border : mixed(c.card, toneColour(m_tone, c), 0.55));
    const double radius = space(0.45);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
}

Figure::Figure(const QString& caption, QWidget* parent)
    : QWidget(parent), m_value(new QLabel(u"\u2013"_s)), m_caption(mutedLabel(caption)) {
    m_value->setFont(fontOf(Type::Display));
    m_value->setTextFormat(Qt::PlainText);
    for (QLabel* label : {m_value, m_caption})  // keeps the figures of a row level if only one has kanji
        label->setMinimumHeight(lineHeight(label->font()));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_value);
    layout->addWidget(m_caption);
    layout->addStretch(1);  // stays level with a figure whose caption has more lines
    setCaption(caption);
}

void Figure::setValue(const QString& value) {
    m_value->setText(value);
    setAccessibleDescription(value);
}

void Figure::setCaption(const QString& caption) {
    m_caption->setText(caption);
    setAccessibleName(caption);
}

void Figure::wrapCaption() {
    m_caption->setWordWrap(true);
}

PageHeader::PageHeader(QWidget* parent)
    : QWidget(parent),
      m_title(new ElidedLabel),
      m_subtitle(new ElidedLabel),
      m_layout(new HeaderLayout(m_title, m_subtitle, this)) {
    m_title->setFont(fontOf(Type::Title));
    m_subtitle->setFont(fontOf(Type::Small));
    m_subtitle->setForegroundRole(QPalette::PlaceholderText);
    const QPushButton button(u"X"_s, this);
    button.ensurePolished();
    setMinimumHeight(button.sizeHint().height());  // a header has the same height with and without buttons
}

void PageHeader::setTitle(const QString& title) {
    m_title->setFullText(title);
    const int whole = m_title->fontMetrics().horizontalAdvance(title) + space(0.3);
    m_title->setMinimumWidth(std::min(whole, space(kTitleEms)));
}
void PageHeader::setSubtitle(const QString& subtitle) {
    m_subtitle->setFullText(subtitle);
}
void PageHeader::addAction(QWidget* widget) {
    m_layout->addAction(widget);
}

QMargins pageMargins() {
    return {space(1.1), space(0.9), space(1.1), space(0.9)};
}

QVBoxLayout* layOutPage(QWidget* page, PageHeader* header) {
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(pageMargins());
    layout->setSpacing(space(0.7));
    layout->addWidget(header);
    return layout;
}

EmptyView::EmptyView(const QString& title, const QString& text, QWidget* parent)
    : QWidget(parent), m_body(new QLabel(text)), m_actions(new FlowLayout(space(0.6))) {
    auto* head = new QLabel(title);
    head->setFont(fontOf(Type::Title));
    head->setAlignment(Qt::AlignCenter);
    head->setWordWrap(true);
    m_body->setForegroundRole(QPalette::PlaceholderText);
    m_body->setAlignment(Qt::AlignCenter);
    m_body->setWordWrap(true);
    m_body->setMinimumWidth(space(kLeastTextEms));
    m_actions->setAlignment(Qt::AlignHCenter);
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(space(0.6));
    layout->addStretch(2);
    layout->addWidget(head);
    layout->addWidget(m_body);
    layout->addLayout(m_actions);
    layout->addStretch(3);
    setAccessibleName(title);
    setAccessibleDescription(text);
}

/// Makes the lines of the text about equally long, so that no word stands alone on the last one.
void EmptyView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const QMargins around = layout()->contentsMargins();
    const int room = width() - around.left() - around.right();
    const auto height = [this](int width) {
        return m_body->fontMetrics()
            .boundingRect(QRect(0, 0, width, QWIDGETSIZE_MAX), int(Qt::TextWordWrap), m_body->text())
            .height();
    };
    int narrow = space(kLeastTextEms), wide = std::max(room, narrow);
    const int wanted = height(wide);
    while (wide - narrow > 1) {
        const int middle = (narrow + wide) / 2;
        (height(middle) == wanted ? wide : narrow) = middle;
    }
    const int side = std::max(0, (room - wide) / 2 - 1);  // a label needs one pixel more than its text
    // The dots of capitals such as Ö reach above the font's ascent; without this margin, the label would cut
    // them off.
    m_body->setContentsMargins(side, space(0.15), side, 0);
}

QPushButton* EmptyView::addAction(const QString& text) {
    auto* button = m_actions->count() == 0 ? primaryButton(text) : new QPushButton(text);
    m_actions->addWidget(button);
    return button;
}

ElidedButton::ElidedButton(const QString& text, QWidget* parent) : QPushButton(text, parent) {
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
}

QSize ElidedButton::minimumSizeHint() const {
    return {space(6), QPushButton::minimumSizeHint().height()};
}

void ElidedButton::paintEvent(QPaintEvent*) {
    QStylePainter painter(this);
    QStyleOptionButton option;
    initStyleOption(&option);
    const int missing = sizeHint().width() - width();
    if (missing > 0)
        option.text = fontMetrics().elidedText(text(), Qt::ElideRight,
                                               fontMetrics().horizontalAdvance(text()) - missing);
    painter.drawControl(QStyle::CE_PushButton, option);
}

QPushButton* primaryButton(const QString& text, QWidget* parent) {
    auto* button = new QPushButton(text, parent);
    setPrimary(button, true);
    return button;
}

void setPrimary(QPushButton* button, bool primary) {
    button->setProperty("role", primary ? u"primary"_s : QString());
    if (!button->testAttribute(Qt::WA_WState_Polished)) return;
    button->style()->unpolish(button);  // the style sheet reads the property when it polishes
    button->style()->polish(button);
}

QDialogButtonBox* twoButtons(QPushButton* accept, QPushButton* reject) {
    auto* box = new QDialogButtonBox;
    box->addButton(accept, QDialogButtonBox::AcceptRole);
    box->addButton(reject, QDialogButtonBox::RejectRole);
    return box;
}

QPushButton* quietButton(const QString& text, QWidget* parent) {
    auto* button = new QPushButton(text, parent);
    button->setProperty("role", u"quiet"_s);
    button->setCursor(Qt::PointingHandCursor);
    return button;
}

QLabel* mutedLabel(const QString& text, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    label->setFont(fontOf(Type::Small));
    label->setForegroundRole(QPalette::PlaceholderText);
    return label;
}

}  // namespace ringmaster
