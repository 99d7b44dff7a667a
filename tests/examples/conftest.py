def pytest_addoption(parser):
    parser.addoption("--write-verdicts", action="store_true", help="write verdicts.tsv as the programs judge now")
