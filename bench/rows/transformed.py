"""File to topic with transforms and JSON: ours against Kafka Connect with the same ones."""

from __future__ import annotations

from bench.bed import Bed
from bench.deliveries import Delivery, Expected
from bench.moves import Config, Job, by_worker, one_connector_per_file
from bench.rest_worker import RestWorker
from bench.results import CONNECT, OURS, RowResult, Target
from bench.row import Row
from bench.rows.file_to_topic import Run, measure
from bench.variants import SOURCE_VARIANTS, best

TRANSFORMS = {
    "transforms": "hoist,origin",
    "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
    "transforms.hoist.field": "line",
    "transforms.origin.type": "org.apache.kafka.connect.transforms.InsertField$Value",
    "transforms.origin.static.field": "origin",
    "transforms.origin.static.value": "bench",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}
AROUND = len('{"line":"","origin":"bench"}')


class Transformed(Job):
    """Lines that become objects in JSON."""

    def expected(self) -> Expected:
        """What the topic must hold afterwards."""
        records = sum(file.lines for file in self.files)
        lines = sum(file.payload_bytes for file in self.files)
        return Expected(records, lines + records * AROUND)


def transformed(bed: Bed) -> RowResult:
    """One file, one task."""
    small = Transformed([bed.lines(bed.scale.warm_up_lines)])
    large = Transformed([bed.lines(bed.scale.lines)])
    for job in (small, small, large):
        rate = _moved(bed, bed.penstock, job, {}).records_per_second
        bed.say(f"warm-up of penstock, {job.expected().records:,} records: {rate:,.0f}")
    chosen, trials = best(
        SOURCE_VARIANTS,
        lambda more: _moved(bed, bed.kafka_connect, small, more).records_per_second,
        bed.say,
    )
    runs: dict[str, Run] = {
        OURS: lambda: _moved(bed, bed.penstock, large, {}),
        CONNECT: lambda: _moved(bed, bed.kafka_connect, large, chosen.config),
    }
    figures, deliveries = measure(bed, runs)
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[Target(CONNECT, at_least=3.0)],
        notes=[
            "HoistField, InsertField and JsonConverter without schemas. Ours is exactly once. "
            f"Kafka Connect's, with {chosen.name}, is at least once."
        ],
        details={"deliveries": deliveries, "kafka_connect_trials": trials},
    )


ROWS = (Row("file-transformed", "File to topic with two transforms and JSON", transformed),)


def _moved(bed: Bed, worker: RestWorker, job: Job, more: Config) -> Delivery:
    configs = one_connector_per_file(job, {**TRANSFORMS, **more})
    return by_worker(bed, worker, configs, job, committed=worker is bed.penstock)
