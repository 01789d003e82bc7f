"""From text to statements: lark's LALR parser, and errors that say where."""
