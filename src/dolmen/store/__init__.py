"""Where memory is kept: one portable store over two small engines."""
