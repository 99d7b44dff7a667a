#include "gui/plan/yaml_formats.h"

#include <QRegularExpression>

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr qsizetype kLongestLine = 4096;  // longer lines are not coloured

class Painter {
  public:
    Painter(const QString& line, const Colours& colours) : m_line(line), m_colours(colours) {}

    QList<QTextLayout::FormatRange> ranges() {
        const qsizetype comment = comment_begin();
        key(comment);
        if (comment < m_line.size()) colour(comment, m_line.size(), m_colours.muted);
        return m_ranges;
    }

  private:
    void colour(qsizetype begin, qsizetype end, const QColor& with) {
        if (end <= begin) return;
        QTextLayout::FormatRange range;
        range.start = int(begin);
        range.length = int(end - begin);
        range.format.setForeground(with);
        m_ranges.append(range);
    }

    /// Returns the position of the # that begins a comment: outside quotes, at the line's beginning or after
    /// a space. Returns the line's length if there is none.
    qsizetype comment_begin() const {
        QChar quote;
        for (qsizetype at = 0; at < m_line.size(); ++at) {
            const QChar c = m_line[at];
            if (!quote.isNull()) {
                if (quote == u'"' && c == u'\\') {
                    ++at;
                } else if (c == quote) {
                    quote = QChar();
                }
            } else if ((c == u'"' || c == u'\'') && (at == 0 || !m_line[at - 1].isLetterOrNumber())) {
                quote = c;
            } else if (c == u'#' && (at == 0 || m_line[at - 1].isSpace())) {
                return at;
            }
        }
        return m_line.size();
    }

    void key(qsizetype end) {
        static const QRegularExpression shape(
            u"^([\\s-]*)(\"[^\"]*\"|'[^']*'|[^\\s:#\"'\\[{-][^:#]*?)\\s*:(?=\\s|$)"_s);
        const QRegularExpressionMatch match = shape.match(m_line.left(end));
        qsizetype begin = 0;
        if (match.hasMatch()) {
            colour(match.capturedStart(2), match.capturedEnd(2),
                   mixed(m_colours.accent, m_colours.text, 0.15));
            begin = match.capturedEnd(0);
        }
        value(begin, end);
    }

    void value(qsizetype begin, qsizetype end) {
        static const QRegularExpression quoted(u"\"(?:[^\"\\\\]|\\\\.)*\"|'[^']*'"_s);
        static const QRegularExpression plain(
            u"^[\\s-]*(true|false|yes|no|on|off|null|~|auto|[-+]?[0-9][0-9_.]*(?:[eE][-+]?[0-9]+)?)\\s*$"_s,
            QRegularExpression::CaseInsensitiveOption);
        const QString text = m_line.mid(begin, end - begin);
        if (const auto match = plain.match(text); match.hasMatch()) {
            colour(begin + match.capturedStart(1), begin + match.capturedEnd(1),
                   mixed(m_colours.warning, m_colours.text, 0.1));
            return;
        }
        for (auto matches = quoted.globalMatch(text); matches.hasNext();) {
            const auto match = matches.next();
            colour(begin + match.capturedStart(), begin + match.capturedEnd(),
                   mixed(m_colours.good, m_colours.text, 0.1));
        }
    }

    const QString& m_line;
    const Colours& m_colours;
    QList<QTextLayout::FormatRange> m_ranges;
};

}  // namespace

QList<QTextLayout::FormatRange> yaml_formats(const QString& line, const Colours& colours) {
    if (line.size() > kLongestLine) return {};
    return Painter(line, colours).ranges();
}

}  // namespace ringmaster
