"""What Spark prints is kept to a bounded size while it goes on printing."""

from pathlib import Path

from penstock.engine.driver.spark_output import SparkOutput


def test_a_file_that_is_still_written_to_is_emptied_and_its_content_kept(tmp_path: Path) -> None:
    output = SparkOutput(tmp_path, longest=10)
    with output.open() as file:
        file.write(b"0123456789")
        file.flush()
        output.trim()
        assert output.path.read_bytes() == b"0123456789", "it is not too long yet"
        file.write(b"!")
        file.flush()
        output.trim()
        file.write(b"more")
    assert output.path.read_bytes() == b"more"
    assert (tmp_path / "spark-output.log.1").read_bytes() == b"0123456789!"


def test_no_file_is_no_error(tmp_path: Path) -> None:
    SparkOutput(tmp_path).trim()
