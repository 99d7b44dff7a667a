#include "gui/plan/problem_list.h"

#include <QEvent>
#include <QPainter>
#include <QResizeEvent>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "engine/config/finding_record.h"
#include "engine/config/keys.h"
#include "gui/look/card.h"
#include "gui/look/flow_layout.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/scrolled.h"
#include "gui/look/wrapped_items.h"
#include "gui/plan/yaml_editor.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr size_t kMostFixes = 4;
constexpr double kMostWordEms = 16;  ///< width of the longest word that is shown without scrolling
constexpr double kIconEms = 0.85;
constexpr int kListFirst = 1000;  ///< stretch factor with which the list grows to its maximum height first
constexpr int kLeastRows = 3;     ///< rows that the list always shows completely, unless they have many lines
constexpr double kRowEdgeEms = 0.3;  ///< room above a row's text
constexpr double kLeastListEms = 6, kLeastDetailsEms = 3.5;

QString words_of_count(const Diagnostics& problems) {
    int counts[3] = {};
    for (const Diagnostic& said : problems) ++counts[int(said.severity)];
    QStringList parts;
    if (counts[2] > 0) parts << ProblemList::tr("%n error(s)", nullptr, counts[2]);
    if (counts[1] > 0) parts << ProblemList::tr("%n warning(s)", nullptr, counts[1]);
    if (counts[0] > 0) parts << ProblemList::tr("%n note(s)", nullptr, counts[0]);
    return parts.isEmpty() ? ProblemList::tr("No problems") : parts.join(u" \u00B7 "_s);
}

QString name_of(Severity severity) {
    switch (severity) {
        case Severity::Error:
            return ProblemList::tr("Error");
        case Severity::Warning:
            return ProblemList::tr("Warning");
        case Severity::Info:
            break;
    }
    return ProblemList::tr("Note");
}

}  // namespace

QString begun_message(const Diagnostic& said) {
    const QString message = message_of(said);
    const std::string word = message.section(u' ', 0, 0).remove(u':').toStdString();
    return find_key(word) == nullptr ? show::begun(message) : message;
}

QString words_of(const Fix& fix) {
    if (!fix.command.empty()) return QString::fromStdString(fix.command);
    if (const Edit* renamed = renaming_of(fix))
        return ProblemList::tr("Rename to %1").arg(QString::fromStdString(renamed->key));
    QStringList parts;
    for (const Edit& edit : fix.edits) {
        const QString key = QString::fromStdString(edit.key);
        parts << (edit.remove ? ProblemList::tr("Remove %1").arg(key)
                              : u"%1: %2"_s.arg(key, QString::fromStdString(edit.value)));
    }
    return parts.join(u", "_s);
}

ProblemList::ProblemList(QWidget* parent)
    : QWidget(parent),
      m_title(new QLabel),
      m_list(new QListWidget),
      m_details(new QWidget),
      m_code(quietButton({})),
      m_hint(mutedLabel()),
      m_fixes(nullptr),
      m_fix_box(new QWidget) {
    m_fixes = new FlowLayout(space(0.4), m_fix_box);
    m_title->setFont(fontOf(Type::Section));
    m_title->setContentsMargins(space(0.7), 0, space(0.7), 0);
    m_title->setWordWrap(true);
    m_list->setObjectName(u"problemList"_s);
    m_list->setAccessibleName(tr("Problems"));
    m_list->setProperty("flat", true);
    m_list->setIconSize({space(kIconEms), space(kIconEms)});
    wrapItems(m_list);
    m_list->setVerticalScrollMode(QListView::ScrollPerPixel);  // a row may be higher than the list
    m_code->setObjectName(u"codeButton"_s);
    m_code->setToolTip(tr("What this code means, with an example"));
    m_hint->setWordWrap(true);
    m_hint->setTextFormat(Qt::PlainText);
    m_hint->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* details = new QVBoxLayout(m_details);
    details->setContentsMargins(space(0.7), space(0.2), space(0.7), space(0.5));
    details->setSpacing(space(0.25));
    details->addWidget(m_code, 0, Qt::AlignLeft);
    details->addWidget(m_hint);
    details->addWidget(m_fix_box);
    details->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, space(0.5), 0, 0);
    layout->setSpacing(space(0.3));
    layout->addWidget(m_title);
    m_sheet = scrolled_whole(m_details, space(kMostWordEms));
    m_sheet->setObjectName(u"problemDetails"_s);
    m_sheet->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Ignored);  // gets the rest of the height
    layout->addWidget(m_list, kListFirst);
    layout->addWidget(m_sheet, 1);
    connect(m_list, &QListWidget::currentRowChanged, this, &ProblemList::writeDetails);
    const auto jump = [this](const QListWidgetItem* item) {
        const int line = m_problems[size_t(m_list->row(item))].line;
        if (line > 0) Q_EMIT lineWanted(line);
    };
    connect(m_list, &QListWidget::itemClicked, this, jump);
    connect(m_list, &QListWidget::itemActivated, this, jump);
    connect(m_code, &QPushButton::clicked, this, [this] { Q_EMIT codeWanted(m_code->text()); });
    m_list->viewport()->installEventFilter(this);
    setProblems({});
}

void ProblemList::setProblems(const Diagnostics& problems) {
    const int before = m_list->currentRow();
    m_problems = problems;
    m_title->setText(words_of_count(m_problems));
    writeList();
    m_list->setVisible(!m_problems.empty());
    m_list->setCurrentRow(std::clamp(before, 0, std::max(0, int(m_problems.size()) - 1)));
    if (m_problems.empty()) writeDetails(-1);
    shareRoom();
}

/// Returns the height of the list with this number of rows, or with all if it has fewer.
int ProblemList::heightOf(int rows) const {
    int height = 2 * m_list->frameWidth();
    for (int row = 0; row < std::min(rows, m_list->count()); ++row)
        height += m_list->visualItemRect(m_list->item(row)).height();  // sizeHintForRow() ignores wrapping
    return height;
}

int ProblemList::heightOfDetails() const {
    if (m_details->isHidden()) return 0;
    const QLayout* rows = m_details->layout();
    return rows->hasHeightForWidth() ? rows->totalHeightForWidth(m_sheet->viewport()->width())
                                     : rows->totalSizeHint().height();
}

/// Gives the list the height that the details leave, but at least two fifths of the room. The list's height
/// is cut so that its last visible line is complete.
void ProblemList::shareRoom() {
    const int room = height() - layout()->contentsMargins().top() - m_title->heightForWidth(width()) -
                     2 * layout()->spacing();
    const int details = heightOfDetails(), least_of_details = std::min(details, space(kLeastDetailsEms));
    m_sheet->setMinimumHeight(least_of_details);
    const int least = std::min(heightOf(kLeastRows), space(kLeastListEms));
    const int wanted = std::min(std::max({least, room * 2 / 5, room - details}), room - least_of_details);
    int rows = 0;
    while (rows < m_list->count() && heightOf(rows + 1) <= wanted) ++rows;
    const int line = m_list->fontMetrics().lineSpacing();
    const int lines = rows < m_list->count() ? (wanted - heightOf(rows) - space(kRowEdgeEms)) / line : 0;
    const int shown = heightOf(rows) + (lines > 0 ? space(kRowEdgeEms) + lines * line : 0);
    m_list->setMinimumHeight(std::min(shown, least));
    m_list->setMaximumHeight(shown);
    layout()->activate();  // within a resize, Qt would lay out with the limits from before
}

/// Wraps the texts again when the rows' width changes, for example because a scroll bar appears. The list
/// itself wraps them only if its height changes.
bool ProblemList::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize) {
        const auto* resized = static_cast<QResizeEvent*>(event);
        if (resized->size().width() != resized->oldSize().width())
            QTimer::singleShot(0, this, [this] {
                m_list->doItemsLayout();
                shareRoom();
            });
    }
    return QWidget::eventFilter(watched, event);
}

void ProblemList::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    shareRoom();
    if (event->size().width() != event->oldSize().width()) Q_EMIT wantedHeightChanged();
}

int ProblemList::wantedHeight() const {
    if (m_problems.empty()) return 0;
    return layout()->contentsMargins().top() + m_title->heightForWidth(width()) + heightOf(m_list->count()) +
           heightOfDetails() + 2 * layout()->spacing() + space(0.5);
}

void ProblemList::writeList() {
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    for (const Diagnostic& said : m_problems) {
        const QString message = begun_message(said);
        const QString text = said.line > 0 ? tr("Line %1: %2").arg(said.line).arg(message) : message;
        auto* item = new QListWidgetItem(iconOf(said.severity), text, m_list);
        item->setToolTip(message);
        item->setData(Qt::AccessibleTextRole, u"%1. %2"_s.arg(name_of(said.severity), text));
    }
}

QIcon ProblemList::iconOf(Severity severity) const {
    const int side = space(kIconEms);
    const double scale = devicePixelRatioF();
    QPixmap picture(QSize(side, side) * scale);
    picture.setDevicePixelRatio(scale);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    paint_severity(painter, QRectF(0, 0, side, side), severity, palette());
    QIcon icon(picture);
    icon.addPixmap(picture, QIcon::Selected);  // otherwise Qt tints the chosen problem's icon
    return icon;
}

void ProblemList::writeDetails(int row) {
    while (QLayoutItem* item = m_fixes->takeAt(0)) {
        item->widget()->deleteLater();
        delete item;
    }
    const bool any = row >= 0 && size_t(row) < m_problems.size();
    m_details->setVisible(any);
    if (!any) return;
    const Diagnostic& said = m_problems[size_t(row)];
    m_code->setText(QString::fromStdString(said.code));
    m_code->setVisible(!said.code.empty());
    m_code->setAccessibleName(tr("Explain %1").arg(m_code->text()));
    m_hint->setText(show::begun(hint_of(said)));
    std::vector<Fix> fixes = said.fixes;
    std::erase_if(fixes, [](const Fix& fix) { return fix.edits.empty(); });  // commands need a terminal
    const bool button_says_it = fixes.size() == 1 && words_of(fixes.front()) == m_hint->text();
    m_hint->setVisible(!m_hint->text().isEmpty() && !button_says_it);
    if (fixes.size() > kMostFixes) fixes.resize(kMostFixes);
    for (const Fix& fix : fixes) {
        // The hint names the values of a single fix with several edits, which would not fit into a button.
        const bool hint_says_it = fixes.size() == 1 && fix.edits.size() > 1 && !m_hint->isHidden();
        auto* button = new ElidedButton(hint_says_it ? tr("Apply") : words_of(fix));
        button->setObjectName(u"fixButton"_s);
        const QString effect = effect_of(said, fix);
        button->setToolTip(words_of(fix) + u"\n"_s + tr("Changes the text; undo takes it back") +
                           (effect.isEmpty() ? QString() : u"\n"_s + effect));
        connect(button, &QPushButton::clicked, this, [this, fix] { Q_EMIT fixWanted(fix); });
        m_fixes->addWidget(button);
    }
    m_fix_box->setVisible(!fixes.empty());
    shareRoom();
    Q_EMIT wantedHeightChanged();
    tabFromListToFixes();
}

/// Sets the Tab order from the list to the code and on to the fixes, which are new for each problem.
void ProblemList::tabFromListToFixes() {
    setTabOrder(m_list, m_code);
    QWidget* last = m_code;
    for (int index = 0; index < m_fixes->count(); ++index) {
        QWidget* button = m_fixes->itemAt(index)->widget();
        setTabOrder(last, button);
        last = button;
    }
}

void ProblemList::followLine(int line) {
    const int now = m_list->currentRow();
    if (now >= 0 && m_problems[size_t(now)].line == line) return;  // a line may have several problems
    for (size_t row = 0; row < m_problems.size(); ++row) {
        if (m_problems[row].line != line) continue;
        m_list->setCurrentRow(int(row));
        return;
    }
}

void ProblemList::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange) return;
    for (int row = 0; row < m_list->count(); ++row)
        m_list->item(row)->setIcon(iconOf(m_problems[size_t(row)].severity));
}

}  // namespace ringmaster
