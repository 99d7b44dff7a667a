#include "gui/plan/yaml_typing.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QKeyEvent>
#include <QRegularExpression>
#include <QScrollBar>
#include <QStandardItemModel>
#include <QTextBlock>
#include <algorithm>

#include "engine/config/keys.h"
#include "gui/look/look.h"
#include "gui/plan/yaml_editor.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kLeastLetters = 2;  ///< letters typed before the list opens automatically

QStandardItemModel* model_of_keys(QObject* parent) {
    auto* model = new QStandardItemModel(parent);
    for (const std::string& key : known_keys()) {
        const QString name = QString::fromStdString(key);
        auto* item = new QStandardItem(name);
        const QString words = words_of_key(name);
        item->setToolTip(words);
        item->setData(name + u". "_s + words, Qt::AccessibleTextRole);
        model->appendRow(item);
    }
    return model;
}

qsizetype indent_of(const QString& line) {
    const auto letter = std::find_if(line.begin(), line.end(), [](QChar c) { return !c.isSpace(); });
    return letter - line.begin();
}

bool is_blank(const QString& line) {
    return indent_of(line) == line.size();
}

}  // namespace

QString words_of_key(const QString& key) {
    const QByteArray name = key.toUtf8();
    const KeyRule* rule = find_key(std::string_view(name.constData(), size_t(name.size())));
    if (!rule) return {};
    switch (rule->fate) {
        case Fate::Used:
            return YamlTyping::tr("%1 is used here.").arg(key);
        case Fate::NoEffect:
            return YamlTyping::tr("%1 has no effect here.").arg(key);
        case Fate::Unsupported:
            break;
    }
    return YamlTyping::tr("%1 is not supported here.").arg(key);
}

YamlTyping::YamlTyping(YamlEditor* editor)
    : QObject(editor), m_editor(editor), m_completer(new QCompleter(this)) {
    m_completer->setModel(model_of_keys(m_completer));
    m_completer->setModelSorting(QCompleter::CaseSensitivelySortedModel);
    m_completer->setWidget(editor);
    m_completer->setCompletionMode(QCompleter::PopupCompletion);
    m_completer->setMaxVisibleItems(10);
    m_completer->popup()->setObjectName(u"keyCompletions"_s);
    m_completer->popup()->setAccessibleName(tr("Keys that begin so"));
    connect(m_completer, qOverload<const QString&>(&QCompleter::activated), this, &YamlTyping::insertKey);
    connect(editor, &QPlainTextEdit::textChanged, this, [this] {
        if (std::exchange(m_typed, false)) offerKeys(false);
    });
    editor->installEventFilter(this);
    m_completer->popup()->installEventFilter(this);  // the popup receives the keys while it is open
}

bool YamlTyping::eventFilter(QObject*, QEvent* event) {
    if (event->type() != QEvent::KeyPress) return false;
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool control = key->modifiers() == Qt::ControlModifier;
    if (control && key->key() == Qt::Key_Slash) {
        toggleComment();
        return true;
    }
    if (control && key->key() == Qt::Key_Space) {
        offerKeys(true);
        return true;
    }
    if (m_completer->popup()->isVisible() &&
        (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter || key->key() == Qt::Key_Tab)) {
        const QString chosen = m_completer->popup()->currentIndex().data().toString();
        m_completer->popup()->hide();
        insertKey(chosen.isEmpty() ? m_completer->currentCompletion() : chosen);
        return true;
    }
    m_typed = !key->text().isEmpty() && (key->text().front().isPrint() || key->key() == Qt::Key_Backspace);
    return false;
}

QString YamlTyping::prefix() const {
    static const QRegularExpression kWord(u"^[a-z_0-9]+$"_s);
    const QTextCursor at = m_editor->textCursor();
    const QString line = at.block().text(), before = line.left(at.positionInBlock());
    const bool at_end = at.positionInBlock() == line.size();
    return at_end && !at.hasSelection() && kWord.match(before).hasMatch() ? before : QString();
}

void YamlTyping::offerKeys(bool asked) {
    const QString word = prefix();
    const bool enough = word.size() >= (asked ? 0 : kLeastLetters);
    const bool at_start = asked && m_editor->textCursor().block().text().isEmpty();
    m_completer->setCompletionPrefix(word);
    const bool any = m_completer->completionCount() > 0 && m_completer->currentCompletion() != word;
    if (!enough || !any || (word.isEmpty() && !at_start)) return m_completer->popup()->hide();
    m_completer->popup()->setCurrentIndex(m_completer->completionModel()->index(0, 0));
    QRect place = m_editor->cursorRect();
    place.translate(m_editor->viewport()->pos());
    place.setWidth(m_completer->popup()->sizeHintForColumn(0) + space(2));
    m_completer->complete(place);
}

void YamlTyping::insertKey(const QString& key) {
    if (key.isEmpty()) return;
    QTextCursor at = m_editor->textCursor();
    at.movePosition(QTextCursor::StartOfBlock, QTextCursor::KeepAnchor);
    at.insertText(key + u": "_s);
    m_editor->setTextCursor(at);
}

void YamlTyping::toggleComment() {
    QTextCursor at = m_editor->textCursor();
    const QTextDocument* text = m_editor->document();
    const QTextBlock first = text->findBlock(at.selectionStart());
    QTextBlock last = text->findBlock(at.selectionEnd());
    if (last != first && at.selectionEnd() == last.position()) last = last.previous();
    qsizetype indent = 1 << 20;
    bool all_comments = true, any = false;
    for (QTextBlock line = first; line.isValid(); line = line.next()) {
        if (!is_blank(line.text())) {
            any = true;
            indent = std::min(indent, indent_of(line.text()));
            all_comments = all_comments && line.text()[indent_of(line.text())] == u'#';
        }
        if (line == last) break;
    }
    if (!any) return;
    at.beginEditBlock();
    for (QTextBlock line = first; line.isValid(); line = line.next()) {
        if (!is_blank(line.text())) {
            QTextCursor edit(line);
            const qsizetype from = all_comments ? indent_of(line.text()) : indent;
            edit.movePosition(QTextCursor::Right, QTextCursor::MoveAnchor, int(from));
            const int marks = line.text().mid(from).startsWith(u"# "_s) ? 2 : 1;
            if (all_comments) edit.movePosition(QTextCursor::Right, QTextCursor::KeepAnchor, marks);
            edit.insertText(all_comments ? QString() : u"# "_s);
        }
        if (line == last) break;
    }
    at.endEditBlock();
}

}  // namespace ringmaster
