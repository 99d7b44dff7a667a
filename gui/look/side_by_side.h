/// Shows texts that answer the same prompts, side by side: a column for each author, a row for each prompt.
#pragma once

#include <QTextBrowser>
#include <vector>

namespace ringmaster {

struct SideText {
    QString text;
    QString note;  ///< a remark after the text, such as "stopped"; may be empty

    bool operator==(const SideText&) const = default;
};

struct SideRow {
    QString prompt;
    bool continues = true;  ///< true: the texts continue the prompt; false: they answer it
    std::vector<SideText> texts;

    bool operator==(const SideRow&) const = default;
};

class SideBySide : public QTextBrowser {
    Q_OBJECT

  public:
    explicit SideBySide(QWidget* parent = nullptr);

    /// Shows rows of as many texts as there are columns. Keeps the place to which the user has scrolled.
    void setTexts(const QStringList& columns, const std::vector<SideRow>& rows);
    /// Makes the widget as high as its text, between these heights in units of space(1).
    void fitHeight(double least, double most);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void write();
    void fit();

    QStringList m_columns;
    std::vector<SideRow> m_rows;
    double m_least = 0, m_most = 0;  ///< 0: the layout decides
};

}  // namespace ringmaster
