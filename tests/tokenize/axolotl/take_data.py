"""Copies axolotl's data into launcher/tokenize/ringmaster_rows/templates: chat templates as files, prompts as one JSON file.

    python take_data.py --to launcher/tokenize/ringmaster_rows/templates

Run it in an environment with axolotl 0.19.0 (`pip install --no-deps axolotl==0.19.0 addict colorama`) and transformers.
The files keep axolotl's licence, Apache 2.0; NOTICE in that folder says so.
"""

import argparse
import json
import shutil
from pathlib import Path

from axolotl import prompters
from axolotl.prompt_strategies import alpaca_chat, alpaca_w_system, context_qa, creative_acr, metharme, orcamini
from axolotl.utils.chat_templates.base import TEMPLATE_DIR

STYLES = ("instruct", "chat", "chatml", "phi")
WITH_STYLES = {"alpaca": "AlpacaPrompter", "gpteacher": "GPTeacherPrompter", "jeopardy": "JeopardyPrompter", "oasst": "AlpacaPrompter",
               "explainchoice": "MultipleChoiceExplainPrompter", "concisechoice": "MultipleChoiceConcisePrompter",
               "summarizetldr": "SummarizeTLDRPrompter"}


def forms(prompter):
    """Returns the prompter's texts with placeholders in place of the fields."""
    return {"with_input": next(iter(prompter.build_prompt("{instruction}", "{input}"))),
            "without_input": next(iter(prompter.build_prompt("{instruction}", "")))}


def system_forms(prompter):
    return {"system": prompter.system_format, "with_input": prompter.turn_format, "without_input": prompter.turn_no_input_format}


def prompts():
    taken = {}
    for kind, name in WITH_STYLES.items():
        for style in STYLES:
            taken[f"{kind}:{style}"] = forms(getattr(prompters, name)(style))
        taken[kind] = forms(getattr(prompters, name)(None))
    for style in STYLES:
        taken[f"alpaca_chat:{style}"] = forms(prompters.AlpacaPrompter(style))
    taken["alpaca_chat"] = forms(prompters.AlpacaPrompter("chat"))
    taken["alpaca_chat.load_concise"] = forms(alpaca_chat.AlpacaConcisePrompter("chat"))
    taken["alpaca_chat.load_qa"] = taken["alpaca_chat.load_camel_ai"] = forms(alpaca_chat.AlpacaChatPrompter())
    taken["alpaca_chat.load_no_prompt"] = forms(prompters.UnpromptedPrompter("chat"))
    taken["alpaca_instruct"] = forms(prompters.AlpacaPrompter("instruct"))
    taken["alpaca_instruct.load_no_prompt"] = forms(prompters.UnpromptedPrompter("instruct"))
    taken["context_qa"] = taken["context_qa.load_404"] = forms(context_qa.AlpacaContextPrompter("chat"))
    taken["context_qa.load_v2"] = forms(context_qa.ContextV2Prompter())
    taken["creative_acr.load_answer"] = forms(creative_acr.CreativeAnswerPrompter())
    taken["creative_acr.load_critique"] = taken["creative_acr.load_revise"] = forms(creative_acr.CreativeRevisePrompter())
    taken["metharme"] = forms(metharme.MetharmePrompter())
    taken["alpaca_w_system"] = taken["alpaca_w_system.load_chat"] = system_forms(alpaca_w_system.SystemDataPrompter("chat"))
    taken["alpaca_w_system.load_instruct"] = system_forms(alpaca_w_system.SystemDataPrompter("instruct"))
    taken["alpaca_w_system.load_open_orca"] = system_forms(alpaca_w_system.OpenOrcaSystemDataPrompter("instruct"))
    taken["alpaca_w_system.load_open_orca_chatml"] = system_forms(alpaca_w_system.OpenOrcaSystemDataPrompter("chatml"))
    orca = orcamini.OrcaMiniPrompter()
    taken["orcamini"] = {"system": "", "with_input": orca.turn_no_input_format, "without_input": orca.turn_no_input_format}
    for style, name in ((None, "reflection"), ("instruct", "reflection:instruct"), ("chat", "reflection:chat")):
        reflect = prompters.ReflectAlpacaPrompter(style)
        taken[name] = {"with_input": reflect.prompt_input, "without_input": reflect.prompt_no_input, "answer": reflect.agent_label}
    taken["creative_acr.load_critique"] = {**taken["creative_acr.load_critique"],
                                           "question": creative_acr.CreativeCritiquePromptTokenizingStrategy.user_prompt}
    taken["creative_acr.load_revise"] = {**taken["creative_acr.load_revise"],
                                         "question": creative_acr.CreativeRevisePromptTokenizingStrategy.user_prompt}
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, required=True)
    folder = parser.parse_args().to
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(Path(TEMPLATE_DIR).glob("*.jinja")):
        shutil.copy(file, folder / file.name)
    (folder / "prompts.json").write_text(json.dumps(prompts(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
