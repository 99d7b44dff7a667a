/// Keeps edits that are not saved yet under the app's data folder, in one file per window that edits. After a
/// crash, another window finds them.
#pragma once

#include <QString>
#include <optional>

namespace ringmaster {

struct Draft {
    QString file;      ///< file that the text belongs to; empty if it was never saved
    QString base_dir;  ///< folder for relative paths if there is no file
    QString text;
    double saved_at = 0;  ///< Unix seconds
    QString path;         ///< path of the draft itself
};

class Drafts {
  public:
    explicit Drafts(const QString& folder);

    /// Writes this window's draft. Throws Error(Refused) if it cannot be written.
    void keep(const Draft& draft);
    void forget();  ///< removes this window's draft

    /// Returns the newest draft whose process has ended; a draft of `file` takes precedence. Skips damaged
    /// drafts.
    std::optional<Draft> orphan(const QString& file = {}) const;
    static void discard(const Draft& draft);

  private:
    QString m_folder;
    QString m_mine;
};

}  // namespace ringmaster
