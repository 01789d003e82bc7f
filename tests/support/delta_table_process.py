"""Statements on a table of Delta's, in a plain session of Spark's.

python delta_table_process.py FOLDER JARS

Reads statements from its input, one a line, and answers each with a line: ``done``, or an error.
``{table}`` stands for the table, which is a folder ``people`` in FOLDER.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from table_turns_process import settings


def main() -> None:
    """As its arguments say."""
    folder, jars = sys.argv[1:]
    builder = SparkSession.builder.config("spark.jars", jars)
    for key, value in settings("delta", folder).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for line in sys.stdin:
        try:
            spark.sql(line.replace("{table}", f"delta.`{folder}/people`"))
            answer = "done"
        except Exception as error:  # noqa: BLE001 (told to the test)
            answer = f"error: {str(error).splitlines()[0]}"
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
