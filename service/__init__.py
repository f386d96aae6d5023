"""The gRPC server of Aleator and its command line.

A servicer reads a request, calls `aleator.search`, and writes the answer; there are no rules and
no search in here. Errors become statuses in one place, `aleator.service.interceptor`.
"""
