/// Holds the Plan page that a test uses, and finds its parts.
#pragma once

#include <QLabel>
#include <QListWidget>
#include <QTemporaryDir>
#include <QTest>

#include "gui/plan/plan_board.h"
#include "gui/plan/plan_page.h"
#include "gui/plan/yaml_editor.h"

namespace ringmaster {

class PlanPageTest : public QObject {
  protected:
    void settle() { QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), 30000); }
    YamlEditor* editor() const { return m_page->findChild<YamlEditor*>(); }
    QString verdict() const { return m_page->findChild<PlanBoard*>()->verdict()->text(); }
    QListWidget* problems() const { return m_page->findChild<QListWidget*>(QStringLiteral("problemList")); }
    /// Returns the row of the first problem with these words, or -1.
    int rowWith(const QString& words) const {
        const QList<QListWidgetItem*> found =
            problems()->findItems(words, Qt::MatchContains | Qt::MatchCaseSensitive);
        return found.isEmpty() ? -1 : problems()->row(found.first());
    }

    QTemporaryDir m_home;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<PlanPage> m_page;
};

}  // namespace ringmaster
