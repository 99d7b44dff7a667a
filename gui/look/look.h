/// Defines the look of the app: colours by meaning, derived from the palette, and distances and type sizes
/// derived from the font. Nothing here depends on a page. A colour is never the only signal: there is always
/// a text. Every program that links this shows labels, tooltips and message boxes as plain text. A rich-text
/// label sets Qt::RichText itself and escapes what it did not write.
#pragma once

#include <QColor>
#include <QFont>

class QPalette;
class QWidget;

namespace ringmaster {

struct Colours {
    bool dark = false;
    QColor window;                            ///< background of the window
    QColor card;                              ///< background of a card
    QColor sunken;                            ///< background of the editor, an empty bar, a hovered row
    QColor border, grid;                      ///< line around a card; line inside a chart
    QColor text, muted, faint;                ///< main text; explanations; disabled text
    QColor accent, onAccent;                  ///< main button, and its text
    QColor good, warning, error;              ///< colours of a text or line
    QColor goodFill, warningFill, errorFill;  ///< colours of the background behind them
};

Colours coloursOf(const QPalette& palette);
Colours coloursOf(const QWidget* widget);

/// Returns one colour per rank, the same on every page: eight hues that also differ in lightness, then the
/// same hues lighter and darker.
QColor rankColour(int rank, const Colours& colours);

/// Returns the colour of a memory component: weights, gradients, optimizer, activations, workspace, logits,
/// communication, runtime, in this order.
QColor memoryColour(int component, const Colours& colours);

/// Names the parts of a step's time.
enum class TimePart { Data, Compute, ExposedCommunication, Other };
QColor timeColour(TimePart part, const Colours& colours);

/// Mixes a and b; `share`, in 0..1, is the part of b.
QColor mixed(const QColor& a, const QColor& b, double share);

/// Returns black or white, whichever is easier to read on `fill` (contrast of WCAG 2, at least 4.5).
QColor inkOn(const QColor& fill);

/// Returns a distance in pixels that grows with the application's font: space(1) is about a line's height,
/// space(0.5) separates neighbours, space(1.25) is a page's margin.
int space(double ems);

/// Returns the height of a line in the app's language. Fonts for Chinese and Japanese are taller than the
/// font whose metrics Qt reports.
int lineHeight(const QFont& font);

enum class Type {
    Display,  ///< main figure of a card
    Title,    ///< title of a page
    Section,  ///< title of a card
    Body,
    Small,  ///< for text such as captions and axes
    Code,
};
QFont fontOf(Type type);

/// Returns the style sheet of buttons, inputs, tables and menus: sizes in `em`, colours from the palette.
QString styleSheetOf(const Colours& colours);

enum class Appearance { System, Light, Dark };
/// Sets the application's palette and style sheet. System follows the desktop (its palette, or the portal's
/// colour scheme).
void applyAppearance(Appearance appearance);

}  // namespace ringmaster
