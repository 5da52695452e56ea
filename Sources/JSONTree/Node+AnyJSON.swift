extension Node {
    /// The node of one whole JSON text whose object members may have any name, for texts that are read and not stored.
    ///
    /// As in every node, members that are null or empty are not there.
    ///
    /// - Throws: `JSONError` with the place of the first fault.
    package static func readingAnyJSON(_ bytes: [UInt8]) throws(JSONError) -> Node {
        try bytes.withBytes { (bytes) throws(JSONError) in
            var scanner = JSONScanner(bytes)
            let node = try scanner.readNode(anyKeys: true)
            try scanner.expectEnd()
            return node
        }
    }

    /// The child named `name`, which need not be a legal database key.
    package func member(_ name: String) -> Node {
        child(Key(unchecked: Array(name.utf8)))
    }
}
