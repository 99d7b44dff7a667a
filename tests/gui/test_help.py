"""Every diagnostic code of the sources is explained in the help in every language, and the help has no other
codes."""

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
    """Returns title and explanation of a record in a language, as the help shows them."""
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
    """Returns [(file, code, names of possible forms)] for each `Form("CODE", …)`; names put together at run
    time are left out."""
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
        for kind in ("message", "hint", "effect"):
            english = sentences(file.stem, "en", kind)
            for language in TRANSLATED:
                other = sentences(file.stem, language, kind)
                assert {form: names(words) for form, words in other.items()} == {form: names(words) for form, words in english.items()}, (file.name, language)


def first_argument(text):
    """Returns an argument with * for each part that is no string; `text` begins with the argument."""
    depth, words, at = 0, "", 0
    while not (depth == 0 and text[at] in ",)"):
        string = STRING.match(text, at) if depth == 0 else None
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        words += string.group(1) if string else "" if text[at] in "+ \n" or words.endswith("*") else "*"
        at = string.end() if string else at + 1
    return words


@pytest.mark.parametrize("code, call, sources", [("MODEL-CONFIG", "refuse", "families/*.*"), ("CFG-LORA", "refuse_saved", "config/read_lora.cpp"), ("CFG-VALUE", "refuse_unfrozen", "config/read_run_control.cpp")])
def test_reasons_for_a_refusal_are_in_every_language(code, call, sources):
    english = set()
    for file in (ROOT / "engine").glob(sources):
        text = re.sub(r"//.*", "", file.read_text(encoding="utf-8"))
        english |= {first_argument(text[match.end():]) for match in re.finditer(rf"\b{call}\((?:keys,\s+)?", text)} - {"*"}
    assert len(english) > 1
    for language in TRANSLATED:
        head = (FINDINGS / f"{code}.md").read_text(encoding="utf-8").split(f"## {language}\n")[1].partition("\n\n")[0]
        phrases = [re.escape(words).replace(r"\*", ".*") for words in re.findall(r"^phrase (.*) => ", head, re.MULTILINE)]
        missing = [words for words in english if not any(re.fullmatch(phrase, words) for phrase in phrases)]
        assert not missing, f"{code}.md lacks in {language}: {missing}"


def test_reasons_and_advice_of_unsupported_keys_are_in_every_language():
    table = (ROOT / "engine" / "config" / "key_table.cpp").read_text(encoding="utf-8")
    groups = re.findall(r'\{Fate::Unsupported,\s*((?:"[^"]*"\s*)+),\s*((?:"[^"]*"\s*)+),', table)
    english = {"".join(STRING.findall(words)) for group in groups for words in group} - {""}
    assert len(english) > 60
    for language in TRANSLATED:
        page = (FINDINGS / "KEY-UNSUPPORTED.md").read_text(encoding="utf-8").split(f"## {language}\n")[1]
        known = set(re.findall(r"^phrase (.*) => .+$", page.partition("\n\n")[0], re.MULTILINE))
        assert not english - known, f"KEY-UNSUPPORTED.md lacks in {language}: {sorted(english - known)}"
