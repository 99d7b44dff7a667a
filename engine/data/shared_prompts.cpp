#include "engine/data/shared_prompts.h"

#include <algorithm>
#include <map>

#include "engine/files/crc32c.h"

namespace ringmaster {

namespace {

/// Returns, for each document, how many tokens at its beginning other answers may share. A document with a
/// score does not mark where its prompt ends, so the tokens that the documents of a pair have in common count
/// as the prompt.
std::vector<int64_t> shareable_tokens(const std::vector<Row>& documents) {
    std::vector<int64_t> tokens;
    for (const Row& document : documents)
        tokens.push_back(std::max<int64_t>(0, document.prompt_tokens() - 1));
    for (size_t i = 0; i + 1 < documents.size() && documents[i].label_shift == 0; i += 2) {
        const int64_t most = std::min(tokens[i], tokens[i + 1]);
        const auto begin = documents[i].input_ids.begin();
        const auto differs = std::mismatch(begin, begin + most, documents[i + 1].input_ids.begin()).first;
        tokens[i] = tokens[i + 1] = differs - begin;
    }
    return tokens;
}

/// Returns, for each document, the index of the document that holds its prompt: the document itself or an
/// earlier one.
std::vector<size_t> holders_of(const std::vector<Row>& documents, const std::vector<int64_t>& shareable,
                               bool learns_prompt) {
    const auto prompt_of = [&](size_t i) {
        return documents[i].input_ids.first(static_cast<size_t>(shareable[i]));
    };
    std::vector<size_t> holders;
    std::map<uint32_t, std::vector<size_t>> by_hash;
    for (size_t i = 0; i < documents.size(); ++i) {
        holders.push_back(i);
        const std::span<const int32_t> prompt = prompt_of(i);
        if (prompt.empty()) continue;
        std::vector<size_t>& known = by_hash[crc32c(0, prompt.data(), prompt.size_bytes())];
        const auto found = std::find_if(known.rbegin(), known.rend(), [&](size_t other) {
            return std::ranges::equal(prompt, prompt_of(other));
        });
        const bool keeps = learns_prompt && i % 2 == 0;
        if (found != known.rend() && !keeps)
            holders.back() = *found;
        else
            known.push_back(i);
    }
    return holders;
}

/// Appends a document's tokens [from, to) to the sequence, as a document that continues document `continues`.
void place(SharedPrompts& made, size_t document, int64_t from, int64_t to, int64_t continues) {
    std::vector<int64_t>& ends = made.mask.documents;
    const int64_t at = ends.empty() ? 0 : ends.back();
    made.parts.push_back({document, from, to, at});
    ends.push_back(at + to - from);
    made.mask.continues.push_back(continues);
}

}  // namespace

int64_t SharedPrompts::place_of(size_t document, int64_t token) const {
    const size_t holds = token < shared[document] ? holder[document] : document;
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const PlacedTokens& placed) {
        return placed.document == holds && placed.from <= token && token < placed.to;
    });
    return part->at + token - part->from;
}

SharedPrompts share_prompts(const std::vector<Row>& documents, bool learns_prompt) {
    SharedPrompts made;
    const std::vector<int64_t> shareable = shareable_tokens(documents);
    made.holder = holders_of(documents, shareable, learns_prompt);
    std::vector<std::vector<size_t>> answers(documents.size());
    for (size_t i = 0; i < documents.size(); ++i) answers[made.holder[i]].push_back(i);
    const bool any = std::any_of(answers.begin(), answers.end(),
                                 [](const std::vector<size_t>& group) { return group.size() > 1; });
    if (!any) return {};
    made.shared.assign(documents.size(), 0);
    for (size_t first = 0; first < documents.size(); ++first) {
        const std::vector<size_t>& group = answers[first];
        if (group.size() == 1) place(made, first, 0, documents[first].tokens(), -1);
        if (group.size() <= 1) continue;
        const int64_t prompt = shareable[first];
        const auto index = static_cast<int64_t>(made.mask.documents.size());
        place(made, first, 0, prompt, -1);
        for (const size_t answer : group) {
            place(made, answer, prompt, documents[answer].tokens(), index);
            if (answer != first) made.shared[answer] = prompt;
        }
    }
    return made;
}

std::vector<Row> documents_of_rows(const std::vector<Row>& rows) {
    std::vector<Row> documents;
    for (const Row& row : rows) {
        for (Row& document : row.documents()) documents.push_back(std::move(document));
    }
    return documents;
}

}  // namespace ringmaster
