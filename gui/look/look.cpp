#include "gui/look/look.h"

#include <QApplication>
#include <QEvent>
#include <QFile>
#include <QFontDatabase>
#include <QFontMetricsF>
#include <QGridLayout>
#include <QLabel>
#include <QLocale>
#include <QMessageBox>
#include <QPalette>
#include <QWidget>
#include <array>
#include <cmath>

#include "gui/look/indicators.h"
#include "gui/look/system_scheme.h"

namespace ringmaster {

namespace {

using namespace Qt::Literals::StringLiterals;

QColor hex(unsigned rgb) {
    return QColor::fromRgb(QRgb(0xff000000u | rgb));
}

/// Holds hues that people with common kinds of colour blindness can tell apart (after Okabe and Ito 2008),
/// for light and dark backgrounds. Green and red are left out, because charts use them for the evaluation and
/// the capacity.
constexpr std::array<unsigned, 8> kRankLight = {0x2f6fdb, 0xd97a1a, 0xd4569c, 0x0f8fa3,
                                                0x969a14, 0xa34cc7, 0x8a6420, 0x5a5fd0};
constexpr std::array<unsigned, 8> kRankDark = {0x5b9bff, 0xf09a3e, 0xf07fbd, 0x35bccf,
                                               0xd2d04c, 0xc583ea, 0xc09a4a, 0x8f93f5};
/// Holds the colours of the memory components, in memoryColour()'s order: three blues for the model's states,
/// two ambers for activations and workspace, then one hue each.
constexpr std::array<unsigned, 8> kMemoryLight = {0x3d6fc4, 0x6f9be0, 0x9dbdf0, 0xd98b2e,
                                                  0xeab676, 0xc4605a, 0x4fa37c, 0x8b919c};
constexpr std::array<unsigned, 8> kMemoryDark = {0x4c80dc, 0x6f9ded, 0xa0bff5, 0xdf9440,
                                                 0xb98848, 0xd06c66, 0x58ad86, 0x7e8591};

QPalette lightPalette() {
    QPalette p(hex(0xf3f4f6));
    p.setColor(QPalette::Window, hex(0xf3f4f6));
    p.setColor(QPalette::Base, hex(0xffffff));
    p.setColor(QPalette::AlternateBase, hex(0xf8f9fb));
    p.setColor(QPalette::Button, hex(0xffffff));
    for (QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText,
                                     QPalette::ToolTipText, QPalette::BrightText})
        p.setColor(role, hex(0x1a1e26));
    p.setColor(QPalette::ToolTipBase, hex(0xffffff));
    p.setColor(QPalette::Highlight, hex(0x2b6cdf));
    p.setColor(QPalette::HighlightedText, hex(0xffffff));
    p.setColor(QPalette::Link, hex(0x2b6cdf));
    p.setColor(QPalette::PlaceholderText, hex(0x646b77));
    return p;
}

QPalette darkPalette() {
    QPalette p(hex(0x16181d));
    p.setColor(QPalette::Window, hex(0x16181d));
    p.setColor(QPalette::Base, hex(0x1e2127));
    p.setColor(QPalette::AlternateBase, hex(0x23262d));
    p.setColor(QPalette::Button, hex(0x262a32));
    for (QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText,
                                     QPalette::ToolTipText, QPalette::BrightText})
        p.setColor(role, hex(0xe8eaee));
    p.setColor(QPalette::ToolTipBase, hex(0x2a2e36));
    p.setColor(QPalette::Highlight, hex(0x5b95ff));
    p.setColor(QPalette::HighlightedText, hex(0x0d1017));
    p.setColor(QPalette::Link, hex(0x7fadff));
    p.setColor(QPalette::PlaceholderText, hex(0xa0a6b0));
    return p;
}

void disable(QPalette& palette) {
    const QColor faint = mixed(palette.color(QPalette::Window), palette.color(QPalette::WindowText), 0.4);
    for (QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, faint);
}

}  // namespace

QColor inkOn(const QColor& fill) {
    // At this relative luminance (WCAG 2), black and white have the same contrast.
    constexpr double kMiddle = 0.1791;
    const auto linear = [](float part) {
        return part <= 0.04045F ? part / 12.92 : std::pow((double(part) + 0.055) / 1.055, 2.4);
    };
    const double luminance =
        0.2126 * linear(fill.redF()) + 0.7152 * linear(fill.greenF()) + 0.0722 * linear(fill.blueF());
    return luminance > kMiddle ? QColor(Qt::black) : QColor(Qt::white);
}

QColor mixed(const QColor& a, const QColor& b, double share) {
    auto part = [share](float from, float to) { return float(from + (to - from) * share); };
    return QColor::fromRgbF(part(a.redF(), b.redF()), part(a.greenF(), b.greenF()),
                            part(a.blueF(), b.blueF()));
}

Colours coloursOf(const QPalette& palette) {
    Colours c;
    c.window = palette.color(QPalette::Active, QPalette::Window);
    c.card = palette.color(QPalette::Active, QPalette::Base);
    c.text = palette.color(QPalette::Active, QPalette::WindowText);
    c.dark = c.window.lightnessF() < c.text.lightnessF();
    c.sunken = mixed(c.card, c.text, c.dark ? 0.05 : 0.035);
    c.border = mixed(c.card, c.text, c.dark ? 0.13 : 0.11);
    c.grid = mixed(c.card, c.text, c.dark ? 0.10 : 0.08);
    c.muted = mixed(c.card, c.text, 0.66);
    c.faint = mixed(c.card, c.text, 0.45);
    c.accent = palette.color(QPalette::Active, QPalette::Highlight);
    c.onAccent = palette.color(QPalette::Active, QPalette::HighlightedText);
    c.good = hex(c.dark ? 0x52c58c : 0x15784b);
    c.warning = hex(c.dark ? 0xf2b04a : 0x9a5b00);
    c.error = hex(c.dark ? 0xff7d74 : 0xb3261e);
    const double tint = c.dark ? 0.13 : 0.085;
    c.goodFill = mixed(c.card, c.good, tint);
    c.warningFill = mixed(c.card, c.warning, tint);
    c.errorFill = mixed(c.card, c.error, tint);
    return c;
}

Colours coloursOf(const QWidget* widget) {
    return coloursOf(widget->palette());
}

QColor rankColour(int rank, const Colours& colours) {
    // For each group of eight ranks: the share of the card's colour (negative) or of the text's colour
    // (positive) that is mixed in.
    constexpr double kShades[] = {0, -0.35, 0.35, -0.18, 0.18, -0.27, 0.27, -0.1};
    const double shade = kShades[rank / 8 % 8];
    // Each group of eight ranks begins at another hue, so that the first ranks of nodes with eight GPUs
    // differ.
    const QColor hue = hex((colours.dark ? kRankDark : kRankLight)[size_t((rank + rank / 8) % 8)]);
    return shade < 0 ? mixed(hue, colours.card, -shade) : mixed(hue, colours.text, shade);
}

QColor memoryColour(int component, const Colours& colours) {
    return hex((colours.dark ? kMemoryDark : kMemoryLight)[size_t(component) % 8]);
}

QColor timeColour(TimePart part, const Colours& colours) {
    switch (part) {
        case TimePart::Data:
            return hex(colours.dark ? 0x58ad86 : 0x4fa37c);
        case TimePart::Compute:
            return hex(colours.dark ? 0x4c80dc : 0x3d6fc4);
        case TimePart::ExposedCommunication:
            return hex(colours.dark ? 0xdf9440 : 0xd98b2e);
        case TimePart::Other:
            break;
    }
    return hex(colours.dark ? 0x7e8591 : 0x8b919c);
}

int space(double ems) {
    constexpr double kLine = 7.0 / 6;  // height of a line of Latin text; other scripts need more
    return int(std::lround(ems * kLine * QFontInfo(QApplication::font()).pixelSize()));
}

int lineHeight(const QFont& font) {
    return QFontMetrics(font).size(Qt::TextSingleLine, QLocale().nativeLanguageName()).height();
}

QFont fontOf(Type type) {
    QFont font = QApplication::font();
    const double points = font.pointSizeF() > 0 ? font.pointSizeF() : 10;
    switch (type) {
        case Type::Display:
            font.setPointSizeF(points * 1.55);
            font.setWeight(QFont::DemiBold);
            break;
        case Type::Title:
            font.setPointSizeF(points * 1.2);
            font.setWeight(QFont::DemiBold);
            break;
        case Type::Section:
            font.setWeight(QFont::DemiBold);
            break;
        case Type::Body:
            break;
        case Type::Small:
            font.setPointSizeF(points * 0.9);
            break;
        case Type::Code: {
            QFont code = QFontDatabase::systemFont(QFontDatabase::FixedFont);
            code.setPointSizeF(points);
            return code;
        }
    }
    return font;
}

QString styleSheetOf(const Colours& c) {
    QFile file(u":/style.qss"_s);
    if (!file.open(QIODevice::ReadOnly)) qFatal("the style sheet is not in the program");
    QString sheet = QString::fromUtf8(file.readAll());
    const std::pair<QLatin1StringView, QColor> words[] = {
        {"%text"_L1, c.text},
        {"%card"_L1, c.card},
        {"%border"_L1, c.border},
        {"%sunken"_L1, c.sunken},
        {"%faint"_L1, c.faint},
        {"%onaccent"_L1, c.onAccent},
        {"%accenthover"_L1, mixed(c.accent, c.text, 0.12)},
        {"%muted"_L1, c.muted},
        {"%link"_L1, mixed(c.accent, c.text, c.dark ? 0.25 : 0.1)},
        {"%selected"_L1, mixed(c.card, c.accent, c.dark ? 0.2 : 0.12)},
        {"%handle"_L1, mixed(c.card, c.text, 0.25)},
        {"%accent"_L1, c.accent}};
    for (const auto& [word, colour] : words) sheet.replace(word, colour.name());
    const int line = lineHeight(QApplication::font());
    constexpr int kToolExtra = 3;  // Qt adds these pixels to a tool button that has a style sheet
    return sheet.replace("%toolline"_L1, u"%1px"_s.arg(line))
        .replace("%line"_L1, u"%1px"_s.arg(line + kToolExtra));
}

void applyAppearance(Appearance appearance) {
    static const QPalette desktops = QApplication::palette();
    QApplication::setStyle(makeStyle());
    QPalette palette = desktops;
    if (appearance == Appearance::System && !desktopHasOwnPalette(desktops))
        palette = systemPrefersDark() ? darkPalette() : lightPalette();
    if (appearance == Appearance::Light) palette = lightPalette();
    if (appearance == Appearance::Dark) palette = darkPalette();
    disable(palette);
    QApplication::setPalette(palette);
    qApp->setStyleSheet(styleSheetOf(coloursOf(palette)));
}

namespace {

/// Removes the space that a message box reserves for an icon even if it has none.
void dropRoomOfIcon(const QMessageBox& box) {
    auto* grid = qobject_cast<QGridLayout*>(box.layout());
    QLayoutItem* first = grid == nullptr ? nullptr : grid->itemAtPosition(0, 0);
    if (first == nullptr || first->spacerItem() == nullptr) return;
    grid->removeItem(first);
    delete first;
    grid->setHorizontalSpacing(0);  // the layout still has the icon's column
    grid->setColumnStretch(grid->columnCount() - 1, 1);
}

/// Makes labels plain text before they are laid out, unless they ask for rich text themselves; this includes
/// message boxes and tool tips. Otherwise Qt would interpret HTML in texts of nodes, logs and files, and load
/// the files that the HTML names.
class PlainLabels : public QObject {
  public:
    using QObject::QObject;

    bool eventFilter(QObject* watched, QEvent* event) override {
        if (const auto* box = qobject_cast<QMessageBox*>(watched); box && event->type() == QEvent::Show)
            dropRoomOfIcon(*box);
        if (event->type() != QEvent::Polish) return false;
        auto* label = qobject_cast<QLabel*>(watched);
        if (label != nullptr && label->textFormat() == Qt::AutoText) label->setTextFormat(Qt::PlainText);
        return false;
    }
};

void keepLabelsPlain() {
    qApp->installEventFilter(new PlainLabels(qApp));
}

}  // namespace

Q_COREAPP_STARTUP_FUNCTION(keepLabelsPlain)

}  // namespace ringmaster
