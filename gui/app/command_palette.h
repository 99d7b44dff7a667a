/// Lets the user type a few letters of a command's name and run it: open a page, or trigger a menu action or
/// one of the page's buttons.
#pragma once

#include <QDialog>
#include <QLineEdit>
#include <QListWidget>
#include <functional>
#include <vector>

namespace ringmaster {

struct PaletteEntry {
    QString name, keys;  ///< `keys` is the shortcut, shown at the right; it may be empty
    std::function<void()> act;
};

class CommandPalette : public QDialog {
    Q_OBJECT

  public:
    CommandPalette(std::vector<PaletteEntry> entries, QWidget* parent);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void filter(const QString& words);
    void act(const QListWidgetItem* item);

    std::vector<PaletteEntry> m_entries;
    QLineEdit* m_words;
    QListWidget* m_list;
};

/// Returns the visible, enabled buttons inside a widget that have a text, one for each text.
std::vector<PaletteEntry> buttons_of(QWidget* page);

}  // namespace ringmaster
