/// Holds what the pages share: paths, this machine (queried in the background), and navigation between
/// pages. A page emits what it wants; the window (gui/app) opens it for the user.
#pragma once

#include <QObject>
#include <QSettings>
#include <QString>
#include <QStringList>
#include <functional>
#include <optional>

#include "launcher/base/places.h"
#include "launcher/machine/machine.h"
#include "launcher/run/request.h"
#include "launcher/run/resume.h"
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

    /// Returns this machine, or nothing until the background thread has queried it and emitted machineKnown.
    const std::optional<Machine>& machine() const { return m_machine; }

    /// Makes an SshPerson for one task. It asks the user during logins, and stops waiting for an answer when
    /// `given_up` returns true. Without a window, nobody answers.
    using People = std::function<SshPerson(std::function<bool()>)>;
    void setPeople(People people) { m_people = std::move(people); }
    SshPerson person(std::function<bool()> given_up = {}) const;

    /// Asks a yes-or-no question on any thread, and stops waiting when `given_up` returns true. An empty
    /// function means that there is nobody to ask.
    using Ask = std::function<bool(const YesNo&, const std::function<bool()>& given_up)>;
    void setAsking(Ask ask) { m_ask = std::move(ask); }
    const Ask& asking() const { return m_ask; }

    /// Returns the RunKeeper, which follows runs on other machines and updates their local directories.
    RunKeeper& keeper() { return *m_keeper; }

    QStringList recentFiles() const;
    void addRecentFile(const QString& file);

  Q_SIGNALS:
    void machineKnown();
    void recentFilesChanged();
    void runsChanged();  ///< a run was created, deleted or annotated here

    // The window handles these navigation requests.
    void openConfig(const QString& file);                         ///< opens the Plan page
    void openText(const QString& text, const QString& base_dir);  ///< opens the Plan page with a copy
    void chooseConfig();                                          ///< opens the file dialog
    void tryExample();
    void openRun(const QString& dir);  ///< opens the Monitor page
    void compareRuns(const QStringList& dirs);
    void nodesRequested();  ///< opens the Nodes page
    void launchRequested(const ringmaster::Request& request);
    void resumeRequested(const QString& dir, const ringmaster::ResumeOptions& options);
    void followRequested();                   ///< asks to follow a run of another machine
    void fetchRequested(const QString& dir);  ///< asks to fetch the files of a run elsewhere
    void setUpRequested();                    ///< asks to install the Python environment (ringmaster setup)
    void measureRequested();                  ///< asks to measure this machine (ringmaster calibrate)
    void explain(const QString& what);  ///< opens Help at a diagnostic code or a figure's name ("overhead")
    void notice(const QString& text);   ///< shows a short message in the window's footer

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
