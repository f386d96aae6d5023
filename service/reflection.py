"""Descriptors that tell clients the JSON names of fields.

The modules that protoc makes for Python leave `json_name` out, as it follows from the field's name.
Clients that take descriptors from the reflection service, grpcurl among them, then print the
fields by their own names, `best_move` instead of `bestMove`. So reflection is given copies of the
descriptors with `json_name` filled in.
"""

from collections.abc import Iterable

from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import Default, DescriptorPool


def pool_with_json_names(symbols: Iterable[str]) -> DescriptorPool:
    """Copy the files that define some names, and all that they import, into a pool of their own."""
    pool = DescriptorPool()
    added: set[str] = set()

    def add(file: FileDescriptor) -> None:
        if file.name in added:
            return
        added.add(file.name)
        for imported in file.dependencies:  # first, as the pool asks for it
            add(imported)
        copy = FileDescriptorProto()
        file.CopyToProto(copy)
        for message in copy.message_type:
            _fill_in(message, file.message_types_by_name[message.name])
        pool.AddSerializedFile(copy.SerializeToString())

    for symbol in symbols:
        add(Default().FindFileContainingSymbol(symbol))
    return pool


def _fill_in(message: DescriptorProto, original: Descriptor) -> None:
    for field in message.field:
        field.json_name = original.fields_by_name[field.name].json_name
    for nested in message.nested_type:
        _fill_in(nested, original.nested_types_by_name[nested.name])
