"""`penstock operator`: connectors and their offsets as resources of Kubernetes."""

from __future__ import annotations

import signal
import threading
from typing import Annotated

import typer

from penstock.cli.commands import Commands
from penstock.cli.output import warn
from penstock.sdk.errors import UserError

DEFAULT_IMAGE = "penstock:0.1.0"
app = typer.Typer(
    cls=Commands,
    help="Manage connectors and their offsets as Kubernetes resources.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Kubeconfig = Annotated[
    str | None,
    typer.Option(help="Default: $KUBECONFIG, the pod's service account, or ~/.kube/config."),
]


@app.callback()
def operator(
    context: typer.Context,
    *,
    namespace: Annotated[
        list[str] | None,
        typer.Option(
            "-n",
            "--namespace",
            help="Namespace to watch; repeatable. Default: the kubeconfig's namespace.",
        ),
    ] = None,
    all_namespaces: Annotated[
        bool, typer.Option("-A", "--all-namespaces", help="Watch all namespaces.")
    ] = False,
    kubeconfig: Kubeconfig = None,
    interval: Annotated[
        float, typer.Option(min=0.1, help="Seconds between reconciliations of a resource.")
    ] = 120.0,
    strimzi_offsets: Annotated[
        bool,
        typer.Option(
            "--strimzi-offsets",
            help="Also obey strimzi.io/connector-offsets=list|alter|reset, with ConfigMaps. Anyone "
            "who may edit a connector may then change its offsets.",
        ),
    ] = False,
    beside_strimzi: Annotated[
        bool,
        typer.Option(
            "--beside-strimzi",
            help="Leave KafkaConnect and KafkaConnector to Strimzi's operator; handle "
            "KafkaConnectorOffsets only.",
        ),
    ] = False,
    leader_election: Annotated[
        bool, typer.Option(help="Work only while holding the Lease penstock-operator.")
    ] = True,
    health_host: Annotated[
        str, typer.Option(help="Address of /healthz and /metrics.")
    ] = "127.0.0.1",
    health_port: Annotated[
        int, typer.Option(help="Port of /healthz and /metrics; 0: any free one.")
    ] = 0,
) -> None:
    """Run the operator until it is stopped. Needs `pip install "penstock[operator]"`."""
    if context.invoked_subcommand is not None:
        return
    _require_kopf()
    from penstock.kube import load_config
    from penstock.operator.home import Options
    from penstock.operator.run import Operator, Settings

    kube = load_config(kubeconfig)
    settings = Settings(
        kube=kube,
        namespaces=() if all_namespaces else tuple(namespace or [kube.namespace]),
        period_seconds=interval,
        health_host=health_host,
        health_port=health_port,
        lead=leader_election,
        beside_strimzi=beside_strimzi,
        options=Options(strimzi_offsets=strimzi_offsets),
    )
    _log_to_stderr()
    if not Operator(settings, _stop_on_signals(), warn).run():
        raise UserError("The operator lost its Lease or its watch. Start it again.")


@app.command("manifests")
def print_manifests(
    namespace: Annotated[
        str, typer.Option("-n", "--namespace", help="Namespace of the operator.")
    ] = "penstock",
    cluster_wide: Annotated[
        bool,
        typer.Option("--cluster-wide", help="Let it watch all namespaces, not only its own."),
    ] = False,
    image: Annotated[str, typer.Option(help="Image of the operator.")] = DEFAULT_IMAGE,
    crds_only: Annotated[bool, typer.Option("--crds", help="Print only the CRDs.")] = False,
    beside_strimzi: Annotated[
        bool,
        typer.Option("--beside-strimzi", help="Only KafkaConnectorOffsets; the rest is Strimzi's."),
    ] = False,
) -> None:
    """Print CRDs, roles and Deployment: `penstock operator manifests | kubectl apply -f -`."""
    import yaml

    from penstock.operator.crds import crds
    from penstock.operator.manifests import manifests

    made = (
        crds(beside_strimzi=beside_strimzi)
        if crds_only
        else manifests(namespace, image, cluster_wide=cluster_wide, beside_strimzi=beside_strimzi)
    )
    typer.echo(yaml.dump_all(made, Dumper=_plain_dumper(), sort_keys=False), nl=False)


def _plain_dumper() -> type:
    import yaml

    class Plain(yaml.SafeDumper):
        """Writes what occurs twice twice: anchors are hard to read."""

        def ignore_aliases(self, data: object) -> bool:
            return True

    return Plain


def _require_kopf() -> None:
    import importlib.util

    if importlib.util.find_spec("kopf") is None:
        raise UserError('The operator needs kopf: pip install "penstock[operator]"')


def _stop_on_signals() -> threading.Event:
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    return stopped


def _log_to_stderr() -> None:
    import logging

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    for noisy in ("httpx", "kopf"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
