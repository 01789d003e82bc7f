"""The files that are moved."""

from bench.line_files import LONGEST, SHORTEST, line_file


def test_lines_are_plain_numbered_and_of_the_promised_length(tmp_path):
    file = line_file(tmp_path / "lines.txt", 20_000)
    lines = file.path.read_bytes().splitlines()
    assert len(lines) == file.lines == 20_000
    assert [int(line[:10]) for line in lines] == list(range(20_000))
    assert min(map(len, lines)) + 1 >= SHORTEST
    assert max(map(len, lines)) + 1 <= LONGEST
    assert all(line.isascii() for line in lines)
    assert file.payload_bytes == sum(map(len, lines))


def test_a_file_that_is_there_is_not_written_again(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes(b"mine\n")
    assert line_file(path, 1).path.read_bytes() == b"mine\n"
