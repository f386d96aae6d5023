"""The wire contract, version 1: modules generated from the .proto files at build time."""
