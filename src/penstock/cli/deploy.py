"""`penstock deploy`: workers in Kubernetes, the base layer of upper layers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.asking import Yes, ask
from penstock.cli.commands import group
from penstock.cli.deploy_options import (
    Kubeconfig,
    Name,
    Namespace,
    deploy_options,
    given_options,
)
from penstock.cli.output import Format, Output, print_objects, print_table, say

if TYPE_CHECKING:
    from penstock.deploy.cluster import Deployment

app = group("Deploy Connect workers to Kubernetes.")


@app.command()
@deploy_options
def render(
    context: typer.Context,
    helm: Annotated[
        Path | None, typer.Option(help="Write a Helm chart to this folder. Default: print.")
    ] = None,
    kustomize: Annotated[
        Path | None, typer.Option(help="Write a folder for `kubectl apply -k`. Default: print.")
    ] = None,
) -> None:
    """Print the manifests for `kubectl apply -f -`, or write a Helm chart or Kustomize folder."""
    from penstock.deploy.helm import write_chart, write_kustomize
    from penstock.deploy.render import render as rendered
    from penstock.deploy.render import to_yaml

    options = given_options(context)
    if helm is None and kustomize is None:
        typer.echo(to_yaml(rendered(options)), nl=False)
    for file in write_chart(options, helm) if helm else ():
        say(f"Wrote {file}")
    for file in write_kustomize(options, kustomize) if kustomize else ():
        say(f"Wrote {file}")


@app.command()
@deploy_options
def diff(context: typer.Context) -> None:
    """Show what `apply` would change. Exits with 1 if there are changes, like `kubectl diff`."""
    from penstock.deploy.render import render as rendered

    options = given_options(context)
    with _deployment(context) as deployment:
        found = deployment.diff(rendered(options))
    typer.echo(found, nl=False)
    raise typer.Exit(1 if found else 0)


@app.command()
@deploy_options
def apply(context: typer.Context) -> None:
    """Create or update the deployment, and record its Service for the helper functions."""
    from penstock.deploy.record import record
    from penstock.deploy.render import render as rendered

    options = given_options(context)
    with _deployment(context) as deployment:
        for line in deployment.apply(rendered(options)):
            say(line)
        record(options, deployment)


@app.command()
def scale(
    name: Name,
    workers: Annotated[int, typer.Option(min=0, help="Number of workers.")],
    namespace: Namespace = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Change the number of workers, and nothing else."""
    with _of(name, namespace, kubeconfig) as deployment:
        say(deployment.scale(workers))


@app.command()
def status(
    name: Name,
    namespace: Namespace = None,
    kubeconfig: Kubeconfig = None,
    output: Output = Format.TABLE,
) -> None:
    """Show how many workers are ready, and the address of their REST API."""
    with _of(name, namespace, kubeconfig) as deployment:
        found = deployment.status()
    if print_objects(output, [found.__dict__]):
        return
    row = (name, found.kind, f"{found.ready}/{found.wanted}", found.service or "-")
    print_table(("Name", "Kind", "Ready", "Service"), [row])


@app.command()
def delete(
    name: Name, namespace: Namespace = None, kubeconfig: Kubeconfig = None, yes: Yes = False
) -> None:
    """Delete the deployment. Connector configs and offsets stay in Kafka; volumes are kept.

    Asks first if it runs on a terminal.
    """
    ask(f"Delete {name}?", yes=yes)
    with _of(name, namespace, kubeconfig) as deployment:
        gone = deployment.delete()
    for line in gone or [f"There is no deployment {name}."]:
        say(line)


def _deployment(context: typer.Context) -> AbstractContextManager[Deployment]:
    options = given_options(context)
    return _of(options.name, options.namespace, context.params.get("kubeconfig"))


@contextmanager
def _of(name: str, namespace: str | None, kubeconfig: str | None) -> Iterator[Deployment]:
    from penstock.deploy.cluster import Deployment
    from penstock.kube import KubeApi, load_config

    config = load_config(kubeconfig)
    api = KubeApi(config)
    try:
        yield Deployment(api, namespace or config.namespace, name)
    finally:
        api.close()
