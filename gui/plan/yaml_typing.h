/// Helps while typing YAML: Ctrl+/ turns lines into comments and back, and keys of a configuration are
/// completed, each with a note if it is used here.
#pragma once

#include <QObject>
#include <QStringList>

class QCompleter;
class QStandardItemModel;

namespace ringmaster {

class YamlEditor;

class YamlTyping : public QObject {
    Q_OBJECT

  public:
    explicit YamlTyping(YamlEditor* editor);

    /// Turns the selected lines into comments, or back if all of them are comments, as one undo
    /// step.
    void toggleComment();
    /// Offers the keys that begin with the word at the cursor, or hides the list.
    void offerKeys(bool asked);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void insertKey(const QString& key);
    QString prefix() const;  ///< start of a key at the beginning of the cursor's line; otherwise empty

    YamlEditor* m_editor;
    QCompleter* m_completer;
    bool m_typed = false;  ///< true if the next change of the text comes from a typed character or Backspace
};

/// Says if the key is used here, has no effect or is not supported; empty for an unknown key.
QString words_of_key(const QString& key);

}  // namespace ringmaster
