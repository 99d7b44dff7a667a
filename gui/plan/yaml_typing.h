/// Help while typing YAML: Ctrl+/ turns lines into comments and back, and the keys of a configuration
/// complete themselves, each with what becomes of it here.
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

    /// Comments the lines of the selection, or takes the comment away if all of them are comments: one undo
    /// step.
    void toggleComment();
    /// Offers the keys that begin with the word at the cursor, or hides the list.
    void offerKeys(bool asked);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void insertKey(const QString& key);
    QString prefix() const;  ///< the beginning of a key at the start of the cursor's line; empty elsewhere

    YamlEditor* m_editor;
    QCompleter* m_completer;
    bool m_typed = false;  ///< The change of the text that comes next is a letter of the person's.
};

/// Says whether the key is used here, has no effect or is not supported; empty for a key that nobody knows.
QString words_of_key(const QString& key);

}  // namespace ringmaster
