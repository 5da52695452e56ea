import JSONTree

extension Node {
    /// The child with this name, which keys can have.
    subscript(_ name: String) -> Node { child(Key(unchecked: Array(name.utf8))) }
}
