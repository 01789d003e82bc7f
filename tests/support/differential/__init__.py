"""One scripted conversation with Kafka Connect and with Penstock, and what differs."""
