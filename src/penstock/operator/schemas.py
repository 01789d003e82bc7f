"""Building blocks of the resources' schemas: plain OpenAPI, each field with its description."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def string(description: str, **more: Any) -> Json:
    """A text."""
    return {"type": "string", "description": description, **more}


def integer(description: str, **more: Any) -> Json:
    """A whole number."""
    return {"type": "integer", "description": description, **more}


def boolean(description: str, **more: Any) -> Json:
    """True or false."""
    return {"type": "boolean", "description": description, **more}


def array(description: str, items: Json, **more: Any) -> Json:
    """A list."""
    return {"type": "array", "description": description, "items": items, **more}


def fields(description: str, required: tuple[str, ...] = (), /, **properties: Json) -> Json:
    """An object with these fields and no others."""
    made: Json = {"type": "object", "description": description, "properties": properties}
    return {**made, "required": list(required)} if required else made


def free(description: str) -> Json:
    """An object with any fields."""
    return {
        "type": "object",
        "description": description,
        "x-kubernetes-preserve-unknown-fields": True,
    }


def quantities(description: str) -> Json:
    """Amounts of cpu, memory and the like, as a pod has them."""
    return {
        "type": "object",
        "description": description,
        "additionalProperties": {"x-kubernetes-int-or-string": True},
    }


def rule(schema: Json, expression: str, message: str) -> Json:
    """With a rule that the API server checks, and the sentence that it answers with."""
    rules = [*schema.get("x-kubernetes-validations", ()), {"rule": expression, "message": message}]
    return {**schema, "x-kubernetes-validations": rules}


CONDITIONS = array(
    "Conditions of the resource.",
    fields(
        "A condition.",
        ("type", "status"),
        type=string("Ready, NotReady, Warning, ..."),
        status=string("True, False or Unknown."),
        reason=string("The reason, in one word."),
        message=string("What is wrong and what to do about it."),
        lastTransitionTime=string("When the condition last changed."),
    ),
)
GENERATION = integer("Generation of the spec that the status describes.", format="int64")


def source_offsets(description: str) -> Json:
    """A list of a source connector's offsets, as status and spec both have it."""
    entry = fields(
        "Offset of one source partition.",
        ("partition",),
        partition=string("The source partition: JSON, exactly as in the REST API."),
        offset=string(
            "The source offset: JSON. Left out or null resets the partition.", nullable=True
        ),
    )
    return array(description, entry)


def sink_offsets(description: str) -> Json:
    """The same of a sink connector."""
    partition = fields(
        "A topic partition.",
        ("kafkaTopic", "kafkaPartition"),
        kafkaTopic=string("The topic.", minLength=1),
        kafkaPartition=integer("The partition number.", minimum=0),
    )
    offset = {
        **fields(
            "The offset. Left out or null resets the partition.",
            ("kafkaOffset",),
            kafkaOffset=integer("Offset of the next record to read.", format="int64", minimum=0),
        ),
        "nullable": True,
    }
    entry = fields(
        "Offset of one topic partition.", ("partition",), partition=partition, offset=offset
    )
    return array(description, entry)
