// The chat service uses people and their relations, so it exports them.
@_exported public import Social
