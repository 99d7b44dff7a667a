/// What the pages share: where things lie, this machine (asked in the background), and the way from page to
/// page. A page emits what it wants; the window (gui/app) brings the person there.
#pragma once

#include <QObject>
#include <QSettings>
#include <QString>
#include <QStringList>
#include <functional>
#include <optional>

#include "launcher/machine.h"
#include "launcher/places.h"
#include "launcher/request.h"
#include "launcher/resume.h"
#include "launcher/ssh/prompt.h"

namespace ringmaster {

class RunKeeper;
struct YesNo;

class Session : public QObject {
    Q_OBJECT

  public:
    explicit Session(const Places& places, QObject* parent = nullptr);
    ~Session() override;

    const Places& places() const { return m_places; }
    QSettings& settings() { return m_settings; }

    /// Empty until the background thread has asked the system; machineKnown says when.
    const std::optional<Machine>& machine() const { return m_machine; }

    /// Who answers while logging in to a machine, for one undertaking that nobody waits for any more once
    /// `given_up` says so. Without a window: nobody.
    using People = std::function<SshPerson(std::function<bool()>)>;
    void setPeople(People people) { m_people = std::move(people); }
    SshPerson person(std::function<bool()> given_up = {}) const;

    /// Who answers a question of yes or no, on whatever thread it is asked; nobody waits any more once
    /// `given_up` says so. Empty: nobody.
    using Ask = std::function<bool(const YesNo&, const std::function<bool()>& given_up)>;
    void setAsking(Ask ask) { m_ask = std::move(ask); }
    const Ask& asking() const { return m_ask; }

    /// Runs that live elsewhere, kept up to date here while somebody looks at them.
    RunKeeper& keeper() { return *m_keeper; }

    QStringList recentFiles() const;
    void addRecentFile(const QString& file);

  Q_SIGNALS:
    void machineKnown();
    void recentFilesChanged();
    void runsChanged();  ///< a run was made, deleted or annotated here

    // Where to go; the window answers.
    void openConfig(const QString& file);                         ///< Plan
    void openText(const QString& text, const QString& base_dir);  ///< Plan, as an unsaved copy
    void chooseConfig();                                          ///< the file dialog
    void tryExample();
    void openRun(const QString& dir);  ///< Monitor
    void compareRuns(const QStringList& dirs);
    void nodesRequested();  ///< the Nodes page
    void launchRequested(const ringmaster::Request& request);
    void resumeRequested(const QString& dir, const ringmaster::ResumeOptions& options);
    void followRequested();                   ///< a run of another machine
    void fetchRequested(const QString& dir);  ///< what a run elsewhere has made
    void setUpRequested();                    ///< the Python environment (ringmaster setup)
    void explain(const QString& what);  ///< Help: a diagnostic code, or the name of a figure ("overhead")
    void notice(const QString& text);   ///< a short message in the window's foot

  private:
    void askMachine();

    Places m_places;
    QSettings m_settings;
    std::optional<Machine> m_machine;
    People m_people;
    Ask m_ask;
    RunKeeper* m_keeper;
};

}  // namespace ringmaster
