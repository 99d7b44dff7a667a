#include "gui/login/login_prompts.h"

#include <QApplication>
#include <QWidget>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <variant>

#include "gui/login/question_dialog.h"

namespace ringmaster {

namespace {

constexpr auto kLook = std::chrono::milliseconds(100);

}  // namespace

struct LoginPrompts::Question {
    std::variant<LoginPrompt, UnknownHostKey, YesNo> what;
    bool asked_before = false;          ///< true if the same question was just answered and refused
    std::optional<std::string> answer;  ///< any answer to a host key means trust
    bool done = false;
};

/// Connects the threads that ask questions with the window that answers them. The desk outlives both.
struct LoginPrompts::Desk {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::shared_ptr<Question>> waiting;  ///< the first question is shown
    LoginPrompts* owner = nullptr;                  ///< null: nobody answers any more

    /// Shows the next question on the window's thread. The caller must hold the mutex.
    void tell() const {
        if (owner == nullptr) return;
        QMetaObject::invokeMethod(
            owner, [owner = owner] { owner->showNext(); }, Qt::QueuedConnection);
    }

    std::optional<std::string> ask(const std::shared_ptr<Question>& question,
                                   const std::function<bool()>& given_up) {
        std::unique_lock lock(mutex);
        if (owner == nullptr) return std::nullopt;
        waiting.push_back(question);
        tell();
        while (!question->done && owner != nullptr && !(given_up && given_up()))
            changed.wait_for(lock, kLook);
        std::erase(waiting, question);
        tell();
        return question->done ? std::move(question->answer) : std::nullopt;
    }
};

LoginPrompts::LoginPrompts(QWidget* window)
    : QObject(window), m_window(window), m_desk(std::make_shared<Desk>()) {
    m_desk->owner = this;
}

LoginPrompts::~LoginPrompts() {
    {
        const std::lock_guard lock(m_desk->mutex);
        m_desk->owner = nullptr;
    }
    m_desk->changed.notify_all();
    delete m_dialog;
}

SshPerson LoginPrompts::person(std::function<bool()> given_up) {
    // If the same question comes again within one task, the dialog says so.
    auto before = std::make_shared<std::pair<std::mutex, std::string>>();
    SshPerson person;
    person.given_up = given_up;
    person.ask = [desk = m_desk, given_up, before](const LoginPrompt& prompt) {
        auto question = std::make_shared<Question>();
        question->what = prompt;
        {
            const std::lock_guard lock(before->first);
            const std::string now = prompt.host + '\n' + prompt.text;
            question->asked_before = before->second == now;
            before->second = now;
        }
        return desk->ask(question, given_up);
    };
    person.trust_unknown = [desk = m_desk, given_up](const UnknownHostKey& key) {
        auto question = std::make_shared<Question>();
        question->what = key;
        return desk->ask(question, given_up).has_value();
    };
    return person;
}

std::function<bool(const YesNo&, const std::function<bool()>&)> LoginPrompts::asking(LoginPrompts* prompts) {
    return [desk = prompts->m_desk](const YesNo& what, const std::function<bool()>& given_up) {
        auto question = std::make_shared<Question>();
        question->what = what;
        return desk->ask(question, given_up).has_value();
    };
}

void LoginPrompts::showNext() {
    std::shared_ptr<Question> next;
    {
        const std::lock_guard lock(m_desk->mutex);
        for (const std::shared_ptr<Question>& one : m_desk->waiting) {
            if (one->done) continue;
            next = one;
            break;
        }
    }
    if (m_dialog && m_shown == next) return;
    if (m_dialog) {  // nobody waits for the dialog's answer any more
        m_dialog->disconnect(this);
        m_dialog->close();
        m_dialog->deleteLater();
    }
    m_dialog.clear();
    m_shown = next;
    if (!next) return;
    QWidget* above = QApplication::activeModalWidget();
    QWidget* parent = above != nullptr && above != m_window ? above : m_window;
    QuestionDialog* dialog = nullptr;
    if (const auto* prompt = std::get_if<LoginPrompt>(&next->what))
        dialog = new PromptDialog(*prompt, next->asked_before, parent);
    else if (const auto* yes_no = std::get_if<YesNo>(&next->what))
        dialog = new YesNoDialog(*yes_no, parent);
    else
        dialog = new TrustDialog(std::get<UnknownHostKey>(next->what), parent);
    m_dialog = dialog;
    connect(dialog, &QDialog::finished, this, [this, next, dialog](int result) {
        {
            const std::lock_guard lock(m_desk->mutex);
            if (result == QDialog::Accepted) next->answer = dialog->takeAnswer();
            next->done = true;
        }
        m_dialog.clear();
        dialog->deleteLater();
        m_desk->changed.notify_all();
    });
    dialog->open();
}

}  // namespace ringmaster
