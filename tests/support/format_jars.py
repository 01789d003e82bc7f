"""The jars of Delta, Iceberg, Avro and PostgreSQL's driver, fetched once as the broker's are."""

from __future__ import annotations

from penstock.embedded import Java
from penstock.embedded.ivy import JarSet
from penstock.embedded.jars import ensure_folder

JARS = JarSet(
    "The jars of Delta, Iceberg, Avro and PostgreSQL's driver",
    ("delta", "iceberg", "avro", "postgres"),
    """\
<ivy-module version="2.0">
  <info organisation="penstock" module="tests"/>
  <configurations>
    <conf name="delta"/>
    <conf name="iceberg"/>
    <conf name="avro"/>
    <conf name="postgres"/>
  </configurations>
  <dependencies>
    <dependency org="io.delta" name="delta-spark_2.13" rev="4.0.0" conf="delta->default"
                transitive="false"/>
    <dependency org="io.delta" name="delta-storage" rev="4.0.0" conf="delta->default"
                transitive="false"/>
    <dependency org="org.apache.iceberg" name="iceberg-spark-runtime-4.0_2.13" rev="1.10.0"
                conf="iceberg->default" transitive="false"/>
    <dependency org="org.apache.spark" name="spark-avro_2.13" rev="4.0.0" conf="avro->default"
                transitive="false"/>
    <dependency org="org.postgresql" name="postgresql" rev="42.7.14" conf="postgres->default"
                transitive="false"/>
  </dependencies>
</ivy-module>
""",
    megabytes=55,
)


def spark_jars(java: Java, *kinds: str) -> str:
    """As ``spark.jars`` has them."""
    folder = ensure_folder(JARS, java)
    return ",".join(str(jar) for kind in kinds for jar in sorted((folder / kind).glob("*.jar")))
