"""Dead letters: read with what Kafka Connect says about them, and sent to where they came from."""
