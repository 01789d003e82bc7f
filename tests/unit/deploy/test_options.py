"""Options of a deployment: what they become, and what is wrong with some."""

import pytest

from penstock.deploy.options import Options, Spark, parse_topics, parse_worker_config
from penstock.deploy.properties import render_properties, worker_properties
from penstock.deploy.render import render
from penstock.kafka.properties import parse_properties
from penstock.sdk.errors import UserError

SANDBOX = Options("app", bootstrap_servers="kafka:9092", insecure=True)


def test_overrides_win_over_the_upper_layer_and_the_options() -> None:
    options = Options(
        "app",
        bootstrap_servers="kafka:9092",
        group_id="option",
        upper_config={"group.id": "upper", "a": "upper", "b": "upper"},
        worker_config={"b": "override", "listeners": "http://0.0.0.0:1"},
        insecure=True,
    )
    found = worker_properties(options)
    assert (found["group.id"], found["a"], found["b"]) == ("option", "upper", "override")
    assert found["listeners"] == "http://0.0.0.0:1"


def test_the_group_is_the_applications_name_unless_somebody_says_otherwise() -> None:
    assert worker_properties(SANDBOX)["group.id"] == "app"
    upper = Options("app", bootstrap_servers="k:1", upper_config={"group.id": "u"}, insecure=True)
    assert worker_properties(upper)["group.id"] == "u"


def test_worker_config_is_a_property_on_each_line() -> None:
    text = "a=b\n\n# comment\n  c.d = e=f  \n"
    assert parse_worker_config(text) == {"a": "b", "c.d": "e=f"}
    with pytest.raises(UserError, match="worker-config, line 2: 'oops' is not property=value"):
        parse_worker_config("a=b\noops")


def test_topics_are_checked() -> None:
    assert parse_topics("a, b\nc.d") == ("a", "b", "c.d")
    assert parse_topics("") == ()
    for wrong in ("a/b", "x" * 250, "a,.."):
        with pytest.raises(UserError, match="cannot name a topic"):
            parse_topics(wrong)


def test_what_cannot_be_deployed_is_told() -> None:
    with pytest.raises(UserError, match="--insecure for a sandbox"):
        Options("app", bootstrap_servers="k:1")
    with pytest.raises(UserError, match="cannot name a deployment"):
        Options("App", insecure=True)
    with pytest.raises(UserError, match="0 or more"):
        Options("app", workers=-1, insecure=True)
    with pytest.raises(UserError, match="--bootstrap-servers"):
        render(Options("app", insecure=True))


def test_properties_read_back_as_they_were() -> None:
    found = {"a": "b\\c", "d": " leading", "e": "x=y", "f": "two\nlines", "g": "\ttab"}
    assert parse_properties(render_properties(found), "here") == found


def test_pods_have_no_privilege() -> None:
    for options in (
        SANDBOX,
        Options("a", bootstrap_servers="k:1", users_secret="u", tls_secret="t"),
    ):
        workload = render(options)[-1]
        pod = workload["spec"]["template"]["spec"]
        container = pod["containers"][0]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert not pod["automountServiceAccountToken"]
        scheme = container["livenessProbe"]["httpGet"]["scheme"]
        assert scheme == ("HTTP" if options.insecure else "HTTPS")


def test_pods_change_when_the_config_does() -> None:
    def digest(**config: str) -> str:
        options = Options("a", bootstrap_servers="k:1", worker_config=config, insecure=True)
        meta = render(options)[-1]["spec"]["template"]["metadata"]
        return str(meta["annotations"]["penstock.io/config-hash"])

    assert digest(a="1") == digest(a="1") != digest(a="2")


def test_spark_in_pods_is_authenticated() -> None:
    spark = Spark(master="k8s://https://kubernetes.default.svc")
    found = worker_properties(Options("a", bootstrap_servers="k:1", spark=spark, insecure=True))
    assert found["spark.authenticate"] == "true"
    assert found["spark.network.crypto.enabled"] == "true"
