"""Generic matchers: a rule names one in rule.toml, with its terms and parameters, and needs no code."""
