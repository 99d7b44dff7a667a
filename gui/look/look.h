/// The app's one look: colours of meaning derived from the palette, distances and type sizes derived from the
/// font. Nothing here knows a page. No colour is ever the only signal: whoever paints with one also writes.
/// Every program that links this shows labels, tooltips and message boxes as plain text; a label of rich text
/// says so itself (Qt::RichText) and escapes what it did not write.
#pragma once

#include <QColor>
#include <QFont>

class QPalette;
class QWidget;

namespace ringmaster {

struct Colours {
    bool dark = false;
    QColor window;                            ///< behind everything
    QColor card;                              ///< a sheet on the window
    QColor sunken;                            ///< the editor, an empty bar, a hovered row
    QColor border, grid;                      ///< around a card; inside a chart
    QColor text, muted, faint;                ///< what is read; what explains it; what is switched off
    QColor accent, onAccent;                  ///< the one thing to press, and its text
    QColor good, warning, error;              ///< as text or line
    QColor goodFill, warningFill, errorFill;  ///< as the sheet behind it
};

Colours coloursOf(const QPalette& palette);
Colours coloursOf(const QWidget* widget);

/// One colour a rank, the same on every page: eight hues that differ in lightness too, then the same hues
/// lighter and darker.
QColor rankColour(int rank, const Colours& colours);

/// Of a memory component, in the order weights, gradients, optimizer, activations, workspace, logits,
/// communication, runtime.
QColor memoryColour(int component, const Colours& colours);

/// Where a step's time went.
enum class TimePart { Data, Compute, ExposedCommunication, Other };
QColor timeColour(TimePart part, const Colours& colours);

/// `share` of b over a, in 0..1.
QColor mixed(const QColor& a, const QColor& b, double share);

/// Distances in widths of the application's font, so that they grow with it: space(1) is about a line's
/// height, space(0.5) separates neighbours, space(1.25) is a page's margin.
int space(double ems);

enum class Type {
    Display,  ///< the figure that a card is about
    Title,    ///< a page's
    Section,  ///< a card's
    Body,
    Small,  ///< captions, axes
    Code,
};
QFont fontOf(Type type);

/// The style sheet of buttons, inputs, tables, menus: in `em`, from the palette's colours.
QString styleSheetOf(const Colours& colours);

enum class Appearance { System, Light, Dark };
/// Sets the application's palette and style sheet. System keeps what the desktop says (its palette, else the
/// portal's colour scheme).
void applyAppearance(Appearance appearance);

}  // namespace ringmaster
