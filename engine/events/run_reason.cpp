#include "engine/events/run_reason.h"

#include <algorithm>

#include "engine/bare_texts.h"
#include "engine/filled_in.h"
#include "engine/translatable.h"

namespace ringmaster {

// clang-format off
const std::vector<ReasonText>& reason_texts() {
    static const std::vector<ReasonText> texts = {
        // Ends on request, and the end of the training
        {"completed-after", QT_TRANSLATE_NOOP("RunReasons", "completed after step %1")},
        {"preflight-passed", QT_TRANSLATE_NOOP("RunReasons", "preflight passed")},
        {"stopped-begin", QT_TRANSLATE_NOOP("RunReasons", "stopped by request before the first step")},
        {"stopped-after", QT_TRANSLATE_NOOP("RunReasons", "stopped by request after step %1")},
        {"stopped-now-begin", QT_TRANSLATE_NOOP("RunReasons", "stopped at once by request before the first step")},
        {"stopped-now-after", QT_TRANSLATE_NOOP("RunReasons", "stopped at once by request after step %1")},
        {"stopped-now-unsaved", QT_TRANSLATE_NOOP("RunReasons", "stopped at once by request, nothing was saved")},
        {"stopped", QT_TRANSLATE_NOOP("RunReasons", "stopped by request")},
        {"interrupted", QT_TRANSLATE_NOOP("RunReasons", "interrupted before it started")},
        {"time-over", QT_TRANSLATE_NOOP("RunReasons", "saved after step %1, its time was nearly over: waits to be started again")},

        // Continuations: these parts say what is saved, and where.
        {"model-in", QT_TRANSLATE_NOOP("RunReasons", ": the model is in %1")},
        {"adapter-in", QT_TRANSLATE_NOOP("RunReasons", ": the adapter is in %1")},
        {"is-saved", QT_TRANSLATE_NOOP("RunReasons", ", which is saved")},
        {"is-not-saved", QT_TRANSLATE_NOOP("RunReasons", ", which was not saved")},
        {"saved-in", QT_TRANSLATE_NOOP("RunReasons", "; saved in %1")},
        {"saved-at", QT_TRANSLATE_NOOP("RunReasons", ": saved in %1")},
        {"last-checkpoint", QT_TRANSLATE_NOOP("RunReasons", "; the last checkpoint is of step %1")},
        {"no-checkpoint", QT_TRANSLATE_NOOP("RunReasons", "; no checkpoint was saved")},
        {"newest-checkpoint", QT_TRANSLATE_NOOP("RunReasons", "; the newest checkpoint is of step %1")},
        {"nothing-saved", QT_TRANSLATE_NOOP("RunReasons", "; nothing was saved")},

        // Failures of ranks, with their messages
        {"rank-signal", QT_TRANSLATE_NOOP("RunReasons", "rank %1 was killed by signal %2 (%3)")},
        {"rank-status", QT_TRANSLATE_NOOP("RunReasons", "rank %1 ended with exit status %2")},
        {"out-of-memory", QT_TRANSLATE_NOOP("RunReasons", ": out of memory")},
        {"error", QT_TRANSLATE_NOOP("RunReasons", ": %1")},
        {"disk-full", QT_TRANSLATE_NOOP("RunReasons", "; the disk of the run directory is full")},
        {"not-done", QT_TRANSLATE_NOOP("RunReasons", "every rank ended with exit status 0, but rank 0 did not report that training is done")},
        {"log-end", QT_TRANSLATE_NOOP("RunReasons", "; the end of its log:%1")},
        {"started-again", QT_TRANSLATE_NOOP("RunReasons", "started again after: %1")},
        {"supervisor-gone", QT_TRANSLATE_NOOP("RunReasons", "its supervisor (pid %1 on host %2) is gone")},
        {"machine-restarted", QT_TRANSLATE_NOOP("RunReasons", ": the machine was restarted")},
        {"node-gone", QT_TRANSLATE_NOOP("RunReasons", "node %1 is gone: its agent was killed, or the machine")},
        {"node-silent", QT_TRANSLATE_NOOP("RunReasons", "node %1 has been silent for %2 s: the machine or the network between")},
        {"node-forged", QT_TRANSLATE_NOOP("RunReasons", "node %1 was cut off: a line came on its connection that its agent did not send")},
        {"node-garbled-start", QT_TRANSLATE_NOOP("RunReasons", "node %1 sent a description that cannot be read")},
        {"node-garbled-end", QT_TRANSLATE_NOOP("RunReasons", "node %1 sent ends of ranks that cannot be read")},
        {"node-no-start", QT_TRANSLATE_NOOP("RunReasons", "node %1 did not come")},
        {"node-no-end", QT_TRANSLATE_NOOP("RunReasons", "node %1 did not end its ranks")},
        {"text", "%1"},

        // These parts say where ranks were: which rank, whether it waited or worked, in which layer, for whom, and in
        // which step.
        {"rank-kept-waiting", QT_TRANSLATE_NOOP("RunReasons", "; rank %1")},
        {"place-of-rank", QT_TRANSLATE_NOOP("RunReasons", "\n  rank %1")},
        {"rank-stopped", QT_TRANSLATE_NOOP("RunReasons", "rank %1 was stopped by %2 and not continued for %3 s")},
        {"and-it", QT_TRANSLATE_NOOP("RunReasons", ": it")},
        {"place-of-stopped", QT_TRANSLATE_NOOP("RunReasons", " is stopped; it")},
        {"waits", QT_TRANSLATE_NOOP("RunReasons", " waits")},
        {"is-at-work", QT_TRANSLATE_NOOP("RunReasons", " is at work")},
        {"before-layers", QT_TRANSLATE_NOOP("RunReasons", " before the first layer")},
        {"in-layer", QT_TRANSLATE_NOOP("RunReasons", " in layer %1")},
        {"in-hop", QT_TRANSLATE_NOOP("RunReasons", " in layer %1, hop %2")},
        {"after-layer", QT_TRANSLATE_NOOP("RunReasons", " after layer %1")},
        {"after-hop", QT_TRANSLATE_NOOP("RunReasons", " after layer %1, hop %2")},
        {"for-sender", QT_TRANSLATE_NOOP("RunReasons", ", for rank %1 to send %2")},
        {"for-receiver", QT_TRANSLATE_NOOP("RunReasons", ", for rank %1 to take %2")},
        {"for-all", QT_TRANSLATE_NOOP("RunReasons", ", for the %1 of all %2 ranks of %3")},
        {"while-starting", QT_TRANSLATE_NOOP("RunReasons", " (starting")},
        {"in-preflight", QT_TRANSLATE_NOOP("RunReasons", " (preflight")},
        {"at-step", QT_TRANSLATE_NOOP("RunReasons", " (step %1")},
        {"in-forward", QT_TRANSLATE_NOOP("RunReasons", " (forward of step %1, micro-batch %2")},
        {"in-backward", QT_TRANSLATE_NOOP("RunReasons", " (backward of step %1, micro-batch %2")},
        {"at-evaluation", QT_TRANSLATE_NOOP("RunReasons", " (the evaluation after step %1")},
        {"in-evaluation", QT_TRANSLATE_NOOP("RunReasons", " (forward of the evaluation after step %1")},
        {"while-saving", QT_TRANSLATE_NOOP("RunReasons", " (saving after step %1")},
        {"in-transfer", QT_TRANSLATE_NOOP("RunReasons", "; transfer %1 of %2)")},
        {"end-of-place", QT_TRANSLATE_NOOP("RunReasons", ")")},
        {"rank-unkillable", QT_TRANSLATE_NOOP("RunReasons", "\nrank %1 has not ended yet: the system does not let it")},

        // Slurm: %1 is the number of the job, %2 its nodes, such as " (gpu[1-2])"
        {"slurm-time", QT_TRANSLATE_NOOP("RunReasons", "Slurm job %1 reached its time limit")},
        {"slurm-time-next", QT_TRANSLATE_NOOP("RunReasons", "\n`ringmaster resume RUN --slurm time=…` goes on with more time")},
        {"slurm-memory", QT_TRANSLATE_NOOP("RunReasons", "Slurm job %1 ran out of the memory that Slurm gave it")},
        {"slurm-memory-next", QT_TRANSLATE_NOOP("RunReasons", "\n--slurm mem=… with more, a shorter sequence_len, or more ranks")},
        {"slurm-node", QT_TRANSLATE_NOOP("RunReasons", "a node of Slurm job %1%2 failed")},
        {"slurm-node-next", QT_TRANSLATE_NOOP("RunReasons", "\n`ringmaster resume RUN` goes on on other nodes")},
        {"slurm-preempted", QT_TRANSLATE_NOOP("RunReasons", "Slurm job %1 was preempted%2: it had to make way for another")},
        {"resume-next", QT_TRANSLATE_NOOP("RunReasons", "\n`ringmaster resume RUN` goes on from there")},
        {"slurm-cancelled", QT_TRANSLATE_NOOP("RunReasons", "Slurm job %1 was cancelled")},
        {"slurm-output", QT_TRANSLATE_NOOP("RunReasons", "Slurm job %1 could not open agent.log in the run directory%2")},
        {"slurm-output-next", QT_TRANSLATE_NOOP("RunReasons", "\nthe run directory has to be on a file system that the nodes share: --runs-dir")},
        {"slurm-status", QT_TRANSLATE_NOOP("RunReasons", "Slurm job %1 ended with status %2")},
        {"slurm-signal", QT_TRANSLATE_NOOP("RunReasons", ", signal %1")},
        {"slurm-lost", QT_TRANSLATE_NOOP("RunReasons", "Slurm does not know Slurm job %1 any more")},
        {"slurm-silent", QT_TRANSLATE_NOOP("RunReasons", "Slurm job %1 ended (%2) and its ranks left no last word")},
        {"slurm-requeued", QT_TRANSLATE_NOOP("RunReasons", "Slurm put Slurm job %1 back into its queue")},
        {"slurm-preempted-requeued", QT_TRANSLATE_NOOP("RunReasons", "Slurm job %1 was preempted: Slurm put it back into its queue")},
        {"slurm-not-requeued", QT_TRANSLATE_NOOP("RunReasons", "saved as its time was nearly over, and Slurm did not take Slurm job %1 back into its queue")},
    };
    return texts;
}
// clang-format on

const char* reason_text(std::string_view code) {
    const std::vector<ReasonText>& all = reason_texts();
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const ReasonText& text) { return text.code == code; });
    return at == all.end() ? nullptr : at->text;
}

std::string english(const Reason& reason) {
    std::string words;
    for (const ReasonPart& part : reason) {
        const char* text = reason_text(part.code);
        if (text != nullptr) words += bare_texts ? part.code : filled_in(text, part.with);
    }
    return words;
}

}  // namespace ringmaster
