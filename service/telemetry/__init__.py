"""What the server tells its operator: a log, metrics and traces.

`calls` follows every call and hands what it saw to those that observe: `logs` writes a line,
`metrics` counts, `traces` makes a span. None of them sees a request or an answer, so none can give
away a hand.
"""
