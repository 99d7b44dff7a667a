/// Edits that are not saved yet, kept under the app's data folder: one file for each window that edits, found
/// again when its process is gone.
#pragma once

#include <QString>
#include <optional>

namespace ringmaster {

struct Draft {
    QString file;      ///< that the text belongs to; empty: none yet
    QString base_dir;  ///< that relative paths start from, where there is no file
    QString text;
    double saved_at = 0;  ///< Unix seconds
    QString path;         ///< of the draft itself
};

class Drafts {
  public:
    explicit Drafts(const QString& folder);

    /// Throws Error(Refused) where the disk takes nothing.
    void keep(const Draft& draft);
    void forget();  ///< this window's

    /// The newest draft of a process that is gone, by preference of `file`. Damaged ones are skipped.
    std::optional<Draft> orphan(const QString& file = {}) const;
    static void discard(const Draft& draft);

  private:
    QString m_folder;
    QString m_mine;
};

}  // namespace ringmaster
