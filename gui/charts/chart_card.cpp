#include "gui/charts/chart_card.h"

#include <QFileDialog>
#include <QFontMetricsF>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QSaveFile>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "engine/error.h"
#include "gui/look/icons.h"
#include "gui/look/numbers.h"

namespace ringmaster {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr int kMostRows = 3;

void writeFile(const QString& file, const QByteArray& bytes) {
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size() || !out.commit())
        throw Error(Failure::Refused, Code("FILE-WRITE"), out.errorString().toStdString(),
                    file.toStdString());
}

}  // namespace

Legend::Legend(QWidget* parent) : QWidget(parent) {
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void Legend::setChart(const ChartData& chart) {
    const QString before = accessibleName();
    QStringList names;
    m_entries.clear();
    for (const ChartSeries& s : chart.series) {
        if (s.name.isEmpty()) continue;
        m_entries.push_back({s.name, s.colour, s.mark, s.rank, s.faint, s.strong});
        names << s.name;
    }
    const auto is_triangle = [](const ChartMark& mark) { return !mark.strong; };
    if (std::any_of(chart.marks.begin(), chart.marks.end(), is_triangle)) {
        m_entries.push_back({chart.markName, {}, Mark::Points, -1, false, false, true});
        names << chart.markName;
    }
    if (!chart.strongName.isEmpty()) {
        m_entries.push_back(
            {chart.strongName, [](const Colours& c) { return c.warning; }, Mark::Dashed, -1, false, false});
        names << chart.strongName;
    }
    setToolTip(show::listed(names));
    setAccessibleName(show::listed(names));
    if (accessibleName() != before) updateGeometry();
    update();
}

QSize Legend::sizeHint() const {
    return {space(12), heightForWidth(width() > 0 ? width() : space(16))};
}

int Legend::heightForWidth(int width) const {
    int rows = 0;
    bool cut = false;
    place(width, rows, cut);
    return int(std::ceil(QFontMetricsF(fontOf(Type::Small)).height() * 1.25 * std::max(rows, 1)));
}

std::vector<Legend::Placed> Legend::place(double width, int& rows, bool& cut) const {
    const QFontMetricsF metrics(fontOf(Type::Small));
    const double line = metrics.height() * 1.25, dot = metrics.height() * 0.85, gap = metrics.height() * 0.9;
    std::vector<Placed> placed;
    double x = 0;
    rows = m_entries.empty() ? 0 : 1;
    cut = false;
    for (size_t i = 0; i < m_entries.size(); ++i) {
        const double wide = dot + metrics.horizontalAdvance(m_entries[i].name);
        if (x > 0 && x + wide > width) {
            if (rows == kMostRows) {
                cut = true;
                break;
            }
            ++rows;
            x = 0;
        }
        placed.push_back({QRectF(x, line * (rows - 1), wide, line), i});
        x += wide + gap;
    }
    return placed;
}

void Legend::paintEvent(QPaintEvent*) {
    const Colours c = coloursOf(this);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(fontOf(Type::Small));
    int rows = 0;
    bool cut = false;
    const auto placed = place(width(), rows, cut);
    for (const Placed& at : placed) {
        const Entry& entry = m_entries[at.entry];
        QColor colour = entry.colour ? entry.colour(c) : c.text;
        if (entry.faint) colour.setAlphaF(0.45F);
        const double r = space(0.21), y = at.box.center().y();
        if (entry.mark == Mark::Dashed) {
            painter.setPen(QPen(colour, 1.6, Qt::DotLine));
            painter.drawLine(QPointF(at.box.left(), y), QPointF(at.box.left() + 2.4 * r, y));
        } else if (entry.triangle) {
            paintTriangle(painter, {at.box.left() + r, y + r}, c);
        } else if (entry.mark == Mark::Stacked || entry.mark == Mark::Band) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(colour);
            painter.drawRoundedRect(QRectF(at.box.left(), y - r, 2 * r, 2 * r), 1.5, 1.5);
        } else {
            painter.setPen(Qt::NoPen);
            painter.setBrush(colour);
            painter.drawEllipse(QPointF(at.box.left() + r + 0.5, y), r,
                                r);  // inset by half a pixel, because antialiasing smooths the edge
        }
        painter.setPen(entry.rank >= 0 && entry.strong ? c.text : c.muted);
        painter.drawText(at.box, int(Qt::AlignRight | Qt::AlignVCenter), entry.name);
    }
    if (cut && !placed.empty()) {
        painter.setPen(c.muted);
        painter.drawText(QRectF(0, 0, width(), height()), int(Qt::AlignRight | Qt::AlignBottom), u"\u2026"_s);
    }
}

void Legend::mousePressEvent(QMouseEvent* event) {
    int rows = 0;
    bool cut = false;
    for (const Placed& at : place(width(), rows, cut)) {
        if (at.box.contains(event->position()) && m_entries[at.entry].rank >= 0)
            Q_EMIT rankChosen(m_entries[at.entry].rank);
    }
}

ChartCard::ChartCard(const QString& title, QWidget* parent)
    : Card(title, parent), m_plot(new Plot), m_legend(new Legend), m_menu(new QToolButton), m_title(title) {
    m_plot->setAccessibleName(title);
    m_plot->setToolTip({});
    m_menu->setIcon(icon(u"more"_s));
    m_menu->setAutoRaise(true);
    m_menu->setPopupMode(QToolButton::InstantPopup);
    m_menu->setAccessibleName(tr("Menu of the chart %1").arg(title));
    m_menu->setToolTip(tr("Save the chart, or see all of it"));
    m_menu->setObjectName(u"chartMenu"_s);
    m_menu->setStyleSheet(
        u"QToolButton { border-color: transparent; background: transparent; padding: 0.15em 0.3em;"
        " min-height: 0; }"
        "QToolButton::menu-indicator { image: none; width: 0; }"_s);
    auto* menu = new QMenu(m_menu);
    menu->addAction(tr("Save picture…"), this, [this] {
        askAndSave(u".png"_s, tr("Pictures (*.png)"), [this](const QString& file) { savePicture(file); });
    });
    menu->addAction(tr("Save figures…"), this, [this] {
        askAndSave(u".csv"_s, tr("Figures (*.csv)"), [this](const QString& file) { saveFigures(file); });
    });
    menu->addSeparator();
    menu->addAction(tr("Show all of it"), m_plot, &Plot::rangeReset);
    m_menu->setMenu(menu);
    addHeaderWidget(m_menu);
    body()->addWidget(m_legend);
    body()->addWidget(m_plot, 1);
    connect(m_legend, &Legend::rankChosen, m_plot, &Plot::rankChosen);
}

void ChartCard::setData(const ChartData& chart) {
    m_legend->setChart(chart);
    m_legend->setVisible(chart.series.size() > 1 && hasFigures(chart));  // the title names a single series
    m_plot->setData(chart);
}

QImage ChartCard::picture(const QSize& size, double pixelRatio) {
    QImage image((QSizeF(size) * pixelRatio).toSize(), QImage::Format_RGB32);
    image.setDevicePixelRatio(pixelRatio);
    image.fill(coloursOf(this).card);
    const int margin = space(0.8);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(fontOf(Type::Section));
    painter.setPen(coloursOf(this).text);
    const int line = QFontMetrics(fontOf(Type::Section)).height(), width = size.width() - 2 * margin;
    painter.drawText(QRect(margin, margin, width, line), int(Qt::AlignLeft),
                     m_run.isEmpty() ? m_title : m_title + u" \u00B7 "_s + m_run);
    painter.setFont(fontOf(Type::Small));
    painter.setPen(coloursOf(this).muted);
    const int foot = QFontMetrics(fontOf(Type::Small)).height();
    painter.drawText(QRect(margin, size.height() - margin - foot, width, foot), int(Qt::AlignRight),
                     m_plot->chart().xName);
    int top = margin + line + space(0.3);
    if (m_legend->isVisibleTo(this)) {
        m_legend->render(&painter, QPoint(margin, top), {}, RenderFlags());
        top += m_legend->height();
    }
    painter.translate(margin, top + space(0.3));
    m_plot->drawInto(painter, QSizeF(width, size.height() - top - space(0.3) - foot - margin), pixelRatio);
    return image;
}

void ChartCard::savePicture(const QString& file) {
    const QImage image = picture(size().expandedTo({space(24), space(14)}));
    if (!image.save(file, "PNG"))
        throw Error(Failure::Refused, Code("FILE-WRITE"),
                    tr("The picture cannot be written there.").toStdString(), file.toStdString());
}

void ChartCard::saveFigures(const QString& file) {
    if (m_csvWriter) return m_csvWriter(file);
    writeFile(file, csvOf(m_plot->chart()).toUtf8());
}

void ChartCard::askAndSave(const QString& ending, const QString& filter,
                           const std::function<void(const QString&)>& save) {
    QString file =
        QFileDialog::getSaveFileName(this, m_title, m_title.toLower().replace(u' ', u'-') + ending, filter);
    if (file.isEmpty()) return;
    try {
        save(file);
        Q_EMIT saved(file);
    } catch (const Error& problem) {
        Q_EMIT saveFailed(QString::fromStdString(problem.text()));
    }
}

void linkCursors(const std::vector<Plot*>& plots) {
    for (Plot* plot : plots) {
        QObject::connect(plot, &Plot::cursorMoved, plot, [plots, plot](std::optional<double> x) {
            for (Plot* other : plots) {
                if (other != plot) other->setCursorX(x);
            }
        });
    }
}

}  // namespace ringmaster
