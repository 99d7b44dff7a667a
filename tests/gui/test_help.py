"""Tests that the help explains every diagnostic code of the sources in every language, and explains no other codes."""

import ast
import functools
import itertools
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HELP = ROOT / "resources" / "help"
FINDINGS = ROOT / "resources" / "findings"
ADVICE = {"en": "**Do:** ", "de": "**Abhilfe:** ", "ja": "**対処：** ", "zh_CN": "**处理：** "}
SEVERITIES = {"en": ("Error", "Warning", "Info"), "de": ("Fehler", "Warnung", "Info"),
              "ja": ("エラー", "警告", "情報"), "zh_CN": ("错误", "警告", "信息")}
TRANSLATED = [language for language in ADVICE if language != "en"]
CODE = re.compile(r'"([A-Z]{2,}-[A-Z][A-Z0-9-]*)"')
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def codes_of_sources():
    codes = set()
    for folder in ("engine", "launcher"):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in (".cpp", ".h", ".cu"):
                codes |= set(CODE.findall(re.sub(r"//.*", "", file.read_text(encoding="utf-8"))))
    return codes


def record_page(file, language):
    """Returns the title and the explanation of a record in a language, as the help shows them."""
    section = re.search(rf"^## {language}\n(.*?)(?=^## |\Z)", file.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL).group(1)
    head, _, explanation = section.partition("\n\n")
    return re.search(r"^title: (.*)$", head, re.MULTILINE).group(1) + "\n\n" + explanation


def entries(book, language):
    """Returns [(id, text below its heading)] in the file's order; lines of code blocks do not count as headings."""
    if book == "codes":
        return [(file.stem, record_page(file, language)) for file in sorted(FINDINGS.glob("*.md"))]
    text = (HELP / f"{book}.{language}.md").read_text(encoding="utf-8")
    parts = re.split(r"^## ", text, flags=re.MULTILINE)
    assert not parts[0].strip(), f"{book}.{language}.md: text before the first heading is never shown"
    return [tuple(part.split("\n", 1)) for part in parts[1:]]


def ids(book, language):
    return [identifier for identifier, _ in entries(book, language)]


def example(body):
    """Returns an entry's code block without its comments: what a user would write into a file."""
    kind, text = BLOCK.search(body).groups()
    return kind, [line.split("#")[0].rstrip() for line in text.splitlines()]


@pytest.mark.parametrize("language", ADVICE)
def test_every_code_of_the_sources_is_explained(language):
    codes = codes_of_sources()
    assert len(codes) > 60
    missing = codes - set(ids("codes", language))
    assert not missing, f"codes.{language}.md lacks {sorted(missing)}"


@pytest.mark.parametrize("language", ADVICE)
def test_no_code_is_explained_that_the_sources_do_not_have(language):
    strangers = set(ids("codes", language)) - codes_of_sources()
    assert not strangers, f"codes.{language}.md explains {sorted(strangers)}, which nothing says"


@pytest.mark.parametrize("book", ["codes", "figures"])
def test_the_languages_have_the_same_entries_in_the_same_order(book):
    english = ids(book, "en")
    assert len(set(english)) == len(english), "an id stands twice"
    for language in TRANSLATED:
        assert ids(book, language) == english, f"{book}.{language}.md"


@pytest.mark.parametrize("language", ADVICE)
@pytest.mark.parametrize("book", ["codes", "figures"])
def test_every_entry_has_a_title_a_text_an_example_and_what_to_do(book, language):
    for identifier, body in entries(book, language):
        where = f"{book}.{language}.md, {identifier}"
        title, _, rest = body.partition("\n")
        assert title.strip() and len(title) < 90 and not title.endswith((".", "。")), f"{where}: title"
        assert BLOCK.search(rest), f"{where}: no example or formula"
        assert rest.count("```") % 2 == 0, f"{where}: a block is not closed"
        before = rest[: BLOCK.search(rest).start()]
        assert len(before.strip()) > 20, f"{where}: text"
        advice = [line for line in rest.splitlines() if line.startswith(ADVICE[language])]
        assert len(advice) == 1 and len(advice[0]) > len(ADVICE[language]), f"{where}: {ADVICE[language]}"
        assert rest.rstrip().endswith(advice[0]), f"{where}: {ADVICE[language]} comes last"


def severities(body, language):
    """Returns the severities in the order in which an entry names them: 0 error, 1 warning, 2 info."""
    words = re.findall(r"\*\*(\w+)[.。]?\*\*", body)
    return [SEVERITIES[language].index(word) for word in words if word in SEVERITIES[language]]


@pytest.mark.parametrize("language", ADVICE)
def test_every_code_says_its_severity_first(language):
    for identifier, body in entries("codes", language):
        text = body.split("\n", 2)[2]
        assert re.match(r"\*\*(%s)[.。]?\*\*" % "|".join(SEVERITIES[language]), text), f"codes.{language}.md, {identifier}"


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_code_has_the_same_example_and_severity_in_every_language(language):
    for (identifier, english), (_, other) in zip(entries("codes", "en"), entries("codes", language)):
        where = f"codes.{language}.md, {identifier}"
        assert example(other) == example(english), where
        assert severities(other, language) == severities(english, "en"), where


def test_the_guide_has_the_same_parts_in_every_language():
    assert len(ids("guide", "en")) >= 8
    for language in ADVICE:
        assert ids("guide", language) == ids("guide", "en"), language
        for identifier, body in entries("guide", language):
            title, _, text = body.partition("\n")
            assert title.strip() and len(text.strip()) > 100, f"guide.{language}.md, {identifier}"


def test_the_guide_names_the_same_keys_in_every_language():
    def keys(language):
        rows = [line.split("|")[1].strip() for line in entries("guide", language)[-1][1].splitlines() if line.startswith("| ")]
        return [row.replace("Strg", "Ctrl").replace("Eingabe", "Return") for row in rows[1:] if row not in ("Space", "Leertaste", "スペース", "空格")]

    assert len(keys("en")) > 6
    for language in TRANSLATED:
        assert keys(language) == keys("en"), language


FORM = re.compile(r'\bForm\(((?:[^()"]|"(?:[^"\\]|\\.)*"|\([^()]*\))*)\)')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def forms_of_sources():
    """Returns [(file, code, names of possible forms)] for each `Form("CODE", …)`; names that are put together
    at run time are left out."""
    found = []
    for folder in ("engine", "launcher", "gui"):
        for file in sorted((ROOT / folder).rglob("*.cpp")):
            for match in FORM.finditer(re.sub(r"//.*", "", file.read_text(encoding="utf-8"))):
                words = STRING.findall(match.group(1))
                if not words or not CODE.fullmatch(f'"{words[0]}"'):
                    continue
                is_fixed = "+" not in match.group(1) and ("," in match.group(1)) == (len(words) > 1)
                found.append((file.relative_to(ROOT), words[0], (words[1:] or [""]) if is_fixed else []))
    return found


def sentences(code, language, kind):
    """Returns {form: sentence} of a record."""
    text = (FINDINGS / f"{code}.md").read_text(encoding="utf-8")
    head = re.search(rf"^## {language}\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL).group(1)
    return dict(re.findall(rf"^{kind} ?([\w-]*): ?(.*)$", head, re.MULTILINE))


def test_every_form_of_the_sources_has_its_sentence():
    forms = forms_of_sources()
    assert len(forms) > 200
    for file, code, names in forms:
        messages = sentences(code, "en", "message")
        for name in names:
            assert name in messages or "" in messages, f'{file}: {code}.md has no message for the form "{name}"'


def test_every_finding_of_the_planner_is_made_from_its_record():
    bare = re.compile(r'(?:error|warn|inform)\(\s*("[A-Z]{2,}-[A-Z][A-Z0-9-]*")|\{Severity::\w+,\s*("[A-Z]{2,}-[A-Z][A-Z0-9-]*")')
    for folder in ("engine/config", "engine/layout", "engine/plan", "engine/families"):
        for file in (ROOT / folder).rglob("*.cpp"):
            if file.name == "key_reader.cpp":
                continue  # its callers pass the forms
            found = bare.search(re.sub(r"//.*", "", file.read_text(encoding="utf-8")))
            assert not found, f"{file.name}: {found.group(0)} brings its own words"


def test_a_sentence_names_the_same_parameters_in_every_language():
    def names(sentence):
        return sorted(re.findall(r"\{(\w+)[!|~}]", sentence))

    for file in FINDINGS.glob("*.md"):
        for kind in ("message", "hint", "app", "effect"):
            english = sentences(file.stem, "en", kind)
            for language in TRANSLATED:
                other = sentences(file.stem, language, kind)
                assert {form: names(words) for form, words in other.items()} == {form: names(words) for form, words in english.items()}, (file.name, language)


CHARACTER = re.compile(r"'(?:[^'\\\\]|\\\\.)'")


def cut(text, marks):
    """Returns ([parts between the marks outside brackets and literals], index of the bracket that ends them)."""
    parts, depth, start, at = [], 0, 0, 0
    while at < len(text):
        literal = STRING.match(text, at) or CHARACTER.match(text, at)
        if literal:
            at = literal.end()
            continue
        if text[at] in ")]}" and depth == 0:
            break
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[at], 0)
        if depth == 0 and text[at] in marks and "::" not in text[max(at - 1, 0) : at + 2]:
            parts.append(text[start:at].strip())
            start = at + 1
        at += 1
    return [*parts, text[start:at].strip()], at


def texts_of(expression):
    """Returns every text that a C++ expression can make, with * for each part that is not a literal."""
    expression = expression.strip()
    condition = cut(expression, "?")[0][0]
    if condition != expression:
        rest = expression[len(condition):].lstrip()[1:]
        first = cut(rest, ":")[0][0]
        return texts_of(first) + texts_of(rest.strip()[len(first):].lstrip()[1:])
    terms = cut(expression, "+")[0]
    if len(terms) > 1:
        return [re.sub(r"\*+", "*", "".join(words)) for words in itertools.product(*map(texts_of, terms))]
    inside = re.fullmatch(r"(?:std::string(?:_view)?)?\((.*)\)", expression, re.DOTALL)
    if inside and cut(inside.group(1), "")[1] == len(inside.group(1)):
        return texts_of(inside.group(1))
    if re.fullmatch(r'(?:"(?:[^"\\]|\\.)*"\s*)+', expression):
        return ["".join(STRING.findall(expression)).replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")]
    return [""] if expression in ("{}", "std::string()", "") else ["*"]


def has_words(text):
    return len(re.sub("[^A-Za-z]", "", text)) > 2


@functools.cache
def phrases(code, language):
    """Returns {English: words} of a record and of those that it names with "phrases of"."""
    text = (FINDINGS / f"{code}.md").read_text(encoding="utf-8")
    found = {}
    for one in [code, *re.findall("^phrases of (.*)$", text, re.MULTILINE)]:
        head = (FINDINGS / f"{one}.md").read_text(encoding="utf-8").split(f"## {language}\n")[1].partition("\n\n")[0]
        found |= dict(re.findall(r"^phrase (.*?) => (.*)$", head, re.MULTILINE))
    return found


def said_by(known, text):
    """Returns true if a phrase matches an English text, in which * stands for a value."""
    return any(re.fullmatch(re.escape(words).replace(r"\*", ".*"), text, re.DOTALL) for words in known)


def test_every_finding_has_the_parameters_of_its_sentences():
    """Checks that each call passes a value for every name in its sentence; if one is missing, the sentence is not shown. Calls
    that do not list their parameters are left out."""
    checked, missing = 0, []
    for folder in ("engine", "launcher", "gui"):
        for file in sorted((ROOT / folder).rglob("*.cpp")):
            text = re.sub(r"//.*", "", file.read_text(encoding="utf-8"))
            for match in FORM.finditer(text):
                words, given = STRING.findall(match.group(1)), cut(text[match.end():], "")[0][0]
                if not words or not CODE.fullmatch(f'"{words[0]}"') or "+" in match.group(1) or '{{"' not in given or "std::move" in given:
                    continue
                for form, kind in itertools.product(words[1:] or [""], ("message", "hint", "app")):
                    known = sentences(words[0], "en", kind)
                    named = set(re.findall(r"\{(\w+)[!|~}]", known.get(form, known.get("", "")))) - {"key", "fixes"}  # every finding has a key and fixes
                    missing += [(file.name, words[0], form, name) for name in named - set(re.findall(r'\{\s*"(\w+)",', given))]
                    checked += 1
    assert checked > 250 and not missing


@pytest.mark.parametrize("code, call, source, argument", [
    ("MODEL-CONFIG", "refuse", "engine/families/*.*", 0), ("CFG-LORA", "refuse_saved", "engine/config/read_lora.cpp", 1),
    ("CFG-VALUE", "refuse_unfrozen", "engine/config/read_run_control.cpp", 0), ("CONFIG-EDIT", "refuse", "engine/config/edit.cpp", 1),
    ("FILE-DAMAGED", "refuse", "gui/plan/file_text.cpp", 1), ("FILE-DAMAGED", "refuse", "gui/plan/file_text.cpp", 2),
    ("FILE-DAMAGED", "refuse", "launcher/base/token_text.cpp", 0), ("GENERATE-RUN", "refuse", "launcher/rows/ask_run.cpp", 1),
    ("GENERATE-RUN", "refuse", "launcher/rows/ask_run.cpp", 2), ("GENERATE-PROMPT", "refuse", "engine/sample/generate.cpp", 1),
    ("GENERATE-PROMPT", "refuse", "engine/sample/generate.cpp", 2), ("RANKS-MEETING", "refuse", "engine/auth/run_secret.cpp", 1),
    ("ALERT-SETTINGS", "refuse", "launcher/alerts/settings.cpp", 0), ("ALERT-SETTINGS", "refuse", "launcher/alerts/settings.cpp", 2),
    ("REWARD-FUNCTION", "fail", "engine/train/reward_process.cpp", 1), ("RUN-ACTIVE", "refuse", "launcher/run/start_record.cpp", 1),
])
def test_reasons_for_a_refusal_are_in_every_language(code, call, source, argument):
    english = set()
    for file in ROOT.glob(source):
        text = re.sub(r"//.*", "", file.read_text(encoding="utf-8"))
        for match in re.finditer(rf"(?<!void )\b{call}\(", text):
            given = cut(text[match.end():], ",")[0]
            given = given[given[0] == "keys":]
            english |= {words for words in texts_of(given[argument]) if has_words(words)} if len(given) > argument else set()
    for language in TRANSLATED:
        missing = [words for words in english if not said_by(phrases(code, language), words)]
        assert not missing, f"{code}.md lacks in {language}: {missing}"


FOR_THE_TERMINAL = ("launcher/cli/", "launcher/agent/options.cpp", "launcher/agent/main.cpp", "engine/words/arguments.cpp", "engine/main.cpp")  # the app never calls these
COMMAND = re.compile(r"ringmaster [a-z]|--[a-z]")


@functools.cache
def errors_of_sources():
    """Returns [(file, codes, texts, hints)] of each Error that the app can show. The texts are its possible messages and the places that
    it names in words."""
    found = []
    for folder in ("engine", "launcher", "gui"):
        for file in sorted((ROOT / folder).rglob("*")):
            name = str(file.relative_to(ROOT))
            if file.suffix not in (".cpp", ".h", ".cu") or name.startswith(FOR_THE_TERMINAL):
                continue
            text = re.sub(r'(?<![:"])//.*', "", file.read_text(encoding="utf-8"))
            for match in re.finditer(r"\bCode\(", text):
                code, end = cut(text[match.end():], "")
                rest = text[match.end() + end + 1 :].lstrip()
                if not rest.startswith(","):
                    continue
                given = cut(rest[1:], ",")[0]
                what, place, hint = [[one for one in texts_of(given[at]) if has_words(one)] if len(given) > at else [] for at in (0, 1, 2)]
                what += [one for one in place if " " in one and not one.startswith("--")]
                found.append((name, CODE.findall(code[0]), what, hint))
    return found


def failures_of_python():
    """Returns the texts that the Python step that reads rows may show: its failures, their hints and its warnings."""
    def texts(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return [node.value]
        if isinstance(node, ast.JoinedStr):
            return ["".join(words) for words in itertools.product(*map(texts, node.values))]
        if isinstance(node, ast.IfExp):
            return texts(node.body) + texts(node.orelse)
        return texts(node.value) if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.IfExp) else ["*"]

    found = set()
    for file in (ROOT / "launcher/tokenize").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            called = isinstance(node, ast.Call) and (getattr(node.func, "id", "") or getattr(node.func, "attr", ""))
            if called in ("Failure", "Unusable", "warning"):
                found |= {re.sub(r"\*+", "*", words) for given in node.args[:1] + node.args[2:3] for words in texts(given)}
    return {words for words in found if has_words(words) and words != "OWNER/NAME"}


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_error_of_the_sources_is_in_every_language(language):
    """Checks that an Error's text and its hint are phrases of its code's record, or of any record if the code is chosen
    at run time."""
    every = {code: phrases(code, language) for code in ids("codes", "en")}
    anywhere = {words for one in every.values() for words in one}
    errors = errors_of_sources()
    assert len(errors) > 300
    missing = [f"{name}: {code or 'a code chosen at run time'}: {words}" for name, codes, what, hints in errors
               for code in codes or [""] for words in {*what, *hints} if not said_by(every[code] if code else anywhere, words)]
    python = failures_of_python()
    assert len(python) > 200
    missing += [f"launcher/tokenize: {words}" for words in python if not said_by(every["DATA-TOKENIZE"], words)]
    assert not missing, f"{language}:\n" + "\n".join(sorted(missing))


@pytest.mark.parametrize("language", ADVICE)
def test_no_hint_in_the_app_names_a_command(language):
    only_there = re.compile("--(host|disk)-memory|vLLM needs|vLLM braucht|vLLM 需要|vLLM には")  # the app cannot do these
    shown = {}
    for code in ids("codes", "en"):
        for form, hint in sentences(code, language, "hint").items():
            shown[code, form] = sentences(code, language, "app").get(form, hint)
        shown |= {(code, english): words for english, words in phrases(code, language).items()}
    for _, codes, _, hints in errors_of_sources():
        for code in codes:
            known = phrases(code, language)
            shown |= {(code, hint): hint for hint in hints if not said_by(known, hint)}
    assert len(shown) > (150 if language == "en" else 900)
    assert not [f"{where}: {hint}" for where, hint in shown.items() if COMMAND.search(hint) and not only_there.search(hint)]


def test_chinese_texts_call_the_loss_by_one_word():
    """Checks that Chinese texts call the training loss "loss", as the pages do. The Chinese word is allowed only for something
    that is lost."""
    lost = ("减少损失", "损失多少", "损失了多少", "量化损失")
    files = [*(ROOT / "resources").rglob("*.md"), ROOT / "translations/ringmaster_zh_CN.ts"]
    for file in files:
        text = file.read_text()
        for word in lost:
            text = text.replace(word, "")
        assert "损失" not in text, file


def test_a_phrase_keeps_the_values_of_its_text():
    """Checks that no phrase has more * than its English text, and that no translation is empty."""
    for code in ids("codes", "en"):
        for language in TRANSLATED:
            for english, words in phrases(code, language).items():
                assert words.strip() and words.count("*") <= english.count("*"), (code, language, english)


def test_reasons_and_advice_of_keys_are_in_every_language():
    table = (ROOT / "engine" / "config" / "key_table.cpp").read_text(encoding="utf-8")
    groups = re.findall(r'\{Fate::(?:Unsupported|NoEffect),\s*((?:"[^"]*"\s*)+),\s*((?:"[^"]*"\s*)+),', table)
    english = {"".join(STRING.findall(words)) for group in groups for words in group} - {""}
    of_accelerate = (ROOT / "engine" / "config" / "accelerate_keys.cpp").read_text(encoding="utf-8")
    english |= set(re.findall(r'^\s+\{"([a-zA-Z][^"]* [^"]*)",', of_accelerate, re.MULTILINE))
    judge = (ROOT / "engine" / "config" / "keys.cpp").read_text(encoding="utf-8")
    english |= {words for given in re.findall(r"no_effect\(key, (.*)\);", judge) for words in texts_of(given) if has_words(words)}
    assert len(english) > 130
    for language in TRANSLATED:
        known = phrases("KEY-UNSUPPORTED", language)
        missing = [words for words in english if not said_by(known, words)]
        assert not missing, f"KEY-UNSUPPORTED.md lacks in {language}: {sorted(missing)}"
