"""Named consumers and topics over REST."""

from __future__ import annotations

from itertools import islice

import httpx
import pytest

from topics import Topics


def test_the_life_of_a_consumer(rest: httpx.Client, consumer, topic: str) -> None:
    name = f"reader-of-{topic}"
    with consumer() as reader:
        list(islice(reader, 3))
        held = rest.delete(f"/consumers/{name}")
        assert (held.status_code, "is reading" in held.json()["message"]) == (409, True)
    (mine,) = [each for each in rest.get("/consumers").json() if each["consumer"] == name]
    assert (mine["topic"], mine["partition"], mine["offset"], mine["lag"]) == (topic, 0, 3, 8)
    assert mine["expires_ms"] is None

    assert rest.patch(f"/consumers/{name}", json={"ttl": "1h"}).status_code == 204
    (mine,) = [each for each in rest.get("/consumers").json() if each["consumer"] == name]
    assert mine["expires_ms"] == mine["seen_ms"] + 3_600_000

    moved = rest.post(f"/consumers/{name}/reset", json={"topic": topic, "to": {"end": 2}})
    assert moved.json() == [{"consumer": name, "topic": topic, "partition": 0, "offset": 8}]
    gone = rest.delete(f"/consumers/{name}", params={"topic": topic, "partition": 0})
    assert gone.json() == [{"consumer": name, "topic": topic, "partition": 0}]
    assert rest.delete(f"/consumers/{name}").status_code == 404


def test_the_life_of_a_topic(rest: httpx.Client, consumer, topics: Topics, name: str) -> None:
    topic = f"{name}-made"
    made = rest.post("/topics", json={"name": topic, "partitions": 2, "consumer_ttl": "7d"})
    assert made.status_code == 201
    assert (made.json()["partitions"], made.json()["status"]) == (2, "provisioned")
    again = rest.post("/topics", json={"name": topic})
    assert (again.status_code, again.json()["error_code"]) == (409, 409)

    with consumer(topic=topic):
        found = rest.get(f"/topics/{topic}").json()
    assert found["consumer_ttl_ms"] == 7 * 86_400_000
    assert found["consumers"] == [f"reader-of-{name}/0", f"reader-of-{name}/1"]
    assert (
        rest.patch(f"/topics/{topic}", json={"consumer_ttl": None}).json()["consumer_ttl_ms"]
        is None
    )

    names = {each["name"] for each in rest.get("/topics").json()}
    assert topic in names
    assert "penstock-consumers" not in names
    every = {each["name"] for each in rest.get("/topics", params={"internal": "true"}).json()}
    assert "penstock-consumers" in every
    assert rest.delete("/topics/penstock-consumers").status_code == 403
    assert rest.delete("/topics/my-configs").status_code == 403, "the worker's own"

    gone = rest.delete(f"/topics/{topic}").json()
    assert [each["partition"] for each in gone] == [0, 1]
    assert rest.get(f"/topics/{topic}").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body", "text"),
    [
        ("PATCH", "/consumers/c", {"ttl": "soon"}, "is not a TTL"),
        ("PATCH", "/consumers/c", {"ttl": 5}, "is a text"),
        ("PATCH", "/consumers/c", {"time": "5s"}, "unknown: time; there are ttl"),
        ("PATCH", "/consumers/c", [], "must be a JSON object"),
        ("POST", "/consumers/c/reset", {"to": {"end": 0}}, '"topic" is needed'),
        ("POST", "/consumers/c/reset", {"topic": "t", "to": {"end": -1}}, '"to" is one of'),
        ("POST", "/consumers/c/reset", {"topic": "t", "to": 5}, '"to" is one of'),
        ("POST", "/topics", {}, '"name" is needed'),
        ("POST", "/topics", {"name": "t", "partitions": "2"}, "is a whole number"),
        ("POST", "/topics", {"name": "t", "config": {"a": 1}}, "an object of texts"),
        ("POST", "/topics", {"name": "in valid"}, "cannot create topic"),
    ],
)
def test_what_is_wrong_with_a_request(rest: httpx.Client, method, path, body, text) -> None:
    answer = rest.request(method, path, json=body)
    assert answer.status_code == 400
    assert text in answer.json()["message"]
