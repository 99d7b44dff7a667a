#include "gui/help/help_page.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QRegularExpression>
#include <QScrollBar>
#include <QShortcut>
#include <QTextBrowser>
#include <QTextDocument>
#include <QTextDocumentFragment>

#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/look/wrapped_items.h"
#include "gui/session/finding_words.h"
#include "launcher/base/help_texts.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

enum Role { kId = Qt::UserRole, kText, kTitle };

constexpr QChar kNoBreakHyphen(0x2011);

/// Shows text with non-breaking hyphens in options. Copied text has the plain hyphens that a shell expects.
class HelpText : public QTextBrowser {
  public:
    using QTextBrowser::QTextBrowser;

  protected:
    QMimeData* createMimeDataFromSelection() const override {
        auto* copied = new QMimeData;
        copied->setText(textCursor().selection().toPlainText().replace(kNoBreakHyphen, u'-'));
        return copied;
    }
};

/// Returns Markdown in which no line breaks after the hyphens at the beginning of an option, such as --write.
QString with_whole_options(QString markdown) {
    static const QRegularExpression code(u"`[^`\\n]+`"_s), option(u"(?<![\\w-])(-{1,2})(?=\\w)"_s);
    QRegularExpressionMatch span;
    for (qsizetype at = 0; (at = markdown.indexOf(code, at, &span)) >= 0; at += span.capturedLength()) {
        QString words = span.captured();
        QRegularExpressionMatch found;
        for (qsizetype in = 0; (in = words.indexOf(option, in, &found)) >= 0; in += found.capturedLength())
            words.replace(in, found.capturedLength(), QString(found.capturedLength(), kNoBreakHyphen));
        markdown.replace(at, words.size(), words);
    }
    return markdown;
}

void add_heading(QListWidget* list, const QString& text) {
    auto* item = new QListWidgetItem(text, list);
    item->setFlags(Qt::NoItemFlags);
    item->setFont(fontOf(Type::Section));
    item->setSizeHint({0, space(2)});
    item->setTextAlignment(Qt::AlignLeft | Qt::AlignBottom);
}

void add_book(QListWidget* list, const QString& heading, HelpBook book) {
    const std::vector<HelpEntry> entries = read_help(book, finding_language());
    if (entries.empty()) return;
    add_heading(list, heading);
    for (const HelpEntry& entry : entries) {
        auto* item = new QListWidgetItem(book == HelpBook::Codes ? entry.id : entry.title, list);
        item->setData(kId, entry.id);
        item->setData(kTitle, entry.title);
        item->setData(kText, entry.text);
        item->setToolTip(entry.title);
    }
}

}  // namespace

HelpPage::HelpPage(Session&, QWidget* parent)
    : Page(parent), m_search(new QLineEdit), m_list(new QListWidget), m_text(new HelpText) {
    m_search->setPlaceholderText(tr("Search help"));
    m_search->setAccessibleName(tr("Search help"));
    m_search->setClearButtonEnabled(true);
    m_search->setObjectName(u"helpSearch"_s);
    m_search->setToolTip(
        tr("Search help (%1)").arg(QKeySequence(QKeySequence::Find).toString(QKeySequence::NativeText)));
    m_list->setAccessibleName(tr("Topics"));
    m_list->setObjectName(u"helpTopics"_s);
    wrapItems(m_list);
    m_text->setAccessibleName(tr("Explanation"));
    m_text->setObjectName(u"helpText"_s);
    m_text->setOpenExternalLinks(true);
    m_text->document()->setDocumentMargin(space(1.2));
    auto* header = new PageHeader;
    header->setTitle(tr("Help"));
    auto* left = new QVBoxLayout;
    left->setSpacing(space(0.5));
    left->addWidget(m_search);
    left->addWidget(m_list, 1);
    auto* both = new QHBoxLayout;
    both->setSpacing(space(0.8));
    both->addLayout(left, 1);
    both->addWidget(m_text, 2);
    layOutPage(this, header)->addLayout(both, 1);
    add_book(m_list, tr("First steps"), HelpBook::Guide);
    add_book(m_list, tr("Figures"), HelpBook::Figures);
    add_book(m_list, tr("Messages"), HelpBook::Codes);
    connect(m_list, &QListWidget::currentRowChanged, this, &HelpPage::showEntry);
    connect(m_search, &QLineEdit::textChanged, this, &HelpPage::filter);
    auto* find = new QShortcut(QKeySequence::Find, this);
    connect(find, &QShortcut::activated, m_search, [this] { m_search->setFocus(); });
    recolour();
    explain({});
}

void HelpPage::explain(const QString& what) {
    m_search->clear();
    int first = -1;
    for (int row = 0; row < m_list->count(); ++row) {
        const QString id = m_list->item(row)->data(kId).toString();
        if (id.isEmpty()) continue;
        if (first < 0) first = row;
        if (id.compare(what, Qt::CaseInsensitive) == 0) {
            m_list->setCurrentRow(row);
            return;
        }
    }
    m_list->setCurrentRow(first);
    m_list->scrollToTop();  // shows the heading above the entry
}

void HelpPage::showEntry(int row) {
    const QListWidgetItem* item = m_list->item(row);
    if (!item || item->data(kId).isNull()) return;
    const QString id = item->data(kId).toString(), title = item->data(kTitle).toString();
    const QString heading = id != id.toUpper() ? title : id + u" \u2013 "_s + title;
    m_text->document()->setMarkdown(
        u"## %1\n\n%2"_s.arg(heading, with_whole_options(item->data(kText).toString())));
    m_text->moveCursor(QTextCursor::Start);  // a resized view scrolls to the cursor
    m_text->verticalScrollBar()->setValue(0);
}

void HelpPage::filter(const QString& words) {
    int first = -1;
    for (int row = 0; row < m_list->count(); ++row) {
        QListWidgetItem* item = m_list->item(row);
        const bool heading = item->data(kId).isNull();
        const bool found = !heading && (item->data(kId).toString() + u' ' + item->data(kTitle).toString() +
                                        u' ' + item->data(kText).toString())
                                           .contains(words, Qt::CaseInsensitive);
        item->setHidden(heading ? !words.isEmpty() : !found);
        if (found && first < 0) first = row;
    }
    if (!words.isEmpty() && first >= 0) m_list->setCurrentRow(first);
}

void HelpPage::recolour() {
    QFont code = fontOf(Type::Code);
    m_text->document()->setDefaultFont(fontOf(Type::Body));
    m_text->document()->setDefaultStyleSheet(u"code, pre { font-family: '%1'; }"_s.arg(code.family()));
}

}  // namespace ringmaster
