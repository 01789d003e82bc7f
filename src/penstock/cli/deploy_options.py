"""The options that `penstock deploy render`, `diff` and `apply` share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.files import read_text
from penstock.deploy.options import DEFAULT_IMAGE, LOCAL

if TYPE_CHECKING:
    from penstock.deploy.options import Options

Name = Annotated[
    str, typer.Argument(help="The application; all objects are named after it.", metavar="NAME")
]
Namespace = Annotated[
    str | None, typer.Option("-n", "--namespace", help="Default: the kubeconfig's namespace.")
]
Kubeconfig = Annotated[
    str | None,
    typer.Option(help="Default: $KUBECONFIG, the pod's service account, or ~/.kube/config."),
]


def shared(
    *,
    name: Name,
    namespace: Namespace = None,
    kubeconfig: Kubeconfig = None,
    bootstrap_servers: Annotated[
        str,
        typer.Option(
            envvar="PENSTOCK_BOOTSTRAP_SERVERS",
            help="Kafka brokers, host:port,... Default: bootstrap.servers of the worker config.",
        ),
    ] = "",
    workers: Annotated[int, typer.Option(min=0, help="Number of workers (pods).")] = 1,
    group_id: Annotated[
        str, typer.Option(help="group.id of the Connect cluster. Default: NAME.")
    ] = "",
    topics: Annotated[
        str,
        typer.Option(
            help="Comma-separated topics, the input of sinks registered without topics. "
            "Default: none."
        ),
    ] = "",
    worker_config: Annotated[
        str,
        typer.Option(
            help="Worker properties that override all others, an upper layer's too: "
            "property=value, one per line, or @FILE. Default: none."
        ),
    ] = "",
    image: Annotated[
        str,
        typer.Option(
            help="Image of the workers. Default: the one given to set_base_image(), else "
            f"{DEFAULT_IMAGE}."
        ),
    ] = "",
    cpu: Annotated[str, typer.Option(help="CPU request of a worker.")] = "1",
    memory: Annotated[str, typer.Option(help="Memory request and limit of a worker.")] = "2Gi",
    spark_master: Annotated[
        str,
        typer.Option(
            help=f"{LOCAL}: Spark runs inside each worker; k8s://URL: its executors are pods."
        ),
    ] = LOCAL,
    executor_instances: Annotated[
        int, typer.Option(min=1, help="Executors per worker, with k8s://.")
    ] = 2,
    executor_cores: Annotated[
        int, typer.Option(min=1, help="Cores per executor, with k8s://.")
    ] = 1,
    executor_memory: Annotated[str, typer.Option(help="Memory per executor, with k8s://.")] = "1g",
    driver_memory: Annotated[
        str, typer.Option(help="Heap of the Spark driver in each worker.")
    ] = "1g",
    spark_config: Annotated[
        list[str] | None, typer.Option(help="spark.KEY=VALUE; repeatable. Default: none.")
    ] = None,
    storage: Annotated[
        str,
        typer.Option(
            help="Size of a persistent volume for each worker. Default: none, an emptyDir is used."
        ),
    ] = "",
    secret: Annotated[
        list[str] | None,
        typer.Option(
            help="Secret that connectors may refer to as ${dir:/mnt/secrets/NAME:KEY}; repeatable. "
            "Default: none."
        ),
    ] = None,
    users_secret: Annotated[
        str,
        typer.Option(
            help="Secret whose key `users` lists who may use the REST API. Default: none; required "
            "without --insecure."
        ),
    ] = "",
    tls_secret: Annotated[
        str,
        typer.Option(
            help="Secret with tls.crt, tls.key and ca.crt for the REST API. Default: none; "
            "required without --insecure."
        ),
    ] = "",
    credentials_secret: Annotated[
        str,
        typer.Option(
            help="Secret with token and ca.crt, used by the helper functions. Default: none."
        ),
    ] = "",
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Serve REST without users and TLS. For sandboxes only."),
    ] = False,
) -> None:
    """Never called: its signature says what the options are."""


def deploy_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options, besides its own; `given_options` reads them."""
    common = list(inspect.signature(shared, eval_str=True).parameters.values())
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    names = {parameter.name for parameter in own}

    @functools.wraps(command)
    def with_options(**values: Any) -> None:
        command(**{key: value for key, value in values.items() if key in names})

    every = [*own[:1], *common, *own[1:]]
    keyword = inspect.Parameter.KEYWORD_ONLY
    with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined] # how typer sees it
        [parameter.replace(kind=keyword) for parameter in every]
    )
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
    return with_options


def given_options(context: typer.Context) -> Options:
    """What was given, with what an upper layer has set."""
    from penstock.client.layer_state import read_state
    from penstock.deploy.options import Options, Spark, parse_topics, parse_worker_config

    given, upper = context.params, read_state()
    return Options(
        name=given["name"],
        namespace=given["namespace"] or _own_namespace(given["kubeconfig"]),
        bootstrap_servers=given["bootstrap_servers"],
        workers=given["workers"],
        group_id=given["group_id"],
        topics=parse_topics(given["topics"]),
        worker_config=parse_worker_config(_text(given["worker_config"])),
        upper_config=upper.get("worker_config", {}),
        image=given["image"] or upper.get("image") or DEFAULT_IMAGE,
        cpu=given["cpu"],
        memory=given["memory"],
        spark=Spark(
            master=given["spark_master"],
            executor_instances=given["executor_instances"],
            executor_cores=given["executor_cores"],
            executor_memory=given["executor_memory"],
            driver_memory=given["driver_memory"],
            config=parse_worker_config("\n".join(given["spark_config"] or ())),
        ),
        storage=given["storage"],
        secrets=tuple(given["secret"] or ()),
        users_secret=given["users_secret"],
        tls_secret=given["tls_secret"],
        credentials_secret=given["credentials_secret"],
        insecure=given["insecure"],
    )


def _text(given: str) -> str:
    return read_text(Path(given[1:])) if given.startswith("@") else given


def _own_namespace(kubeconfig: str | None) -> str:
    """The kubeconfig's; `render` also works without one."""
    from penstock.kube import KubeUnavailable, load_config

    try:
        return load_config(kubeconfig).namespace
    except KubeUnavailable:
        return "default"
