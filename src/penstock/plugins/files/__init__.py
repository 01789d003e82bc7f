"""FileStreamSource and FileStreamSink."""
