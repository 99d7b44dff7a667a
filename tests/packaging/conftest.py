def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left to the label deb")
