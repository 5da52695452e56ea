import JSONTree

extension Node {
    /// The node of one whole JSON text whose object members may have any name.
    ///
    /// - Throws: `JSONError` with the place of the first fault.
    static func readingAnyJSON(_ bytes: [UInt8]) throws(JSONError) -> Node {
        try bytes.withBytes { (bytes) throws(JSONError) in
            var scanner = JSONScanner(bytes)
            let node = try scanner.readNode(anyKeys: true)
            try scanner.expectEnd()
            return node
        }
    }

    /// The child named `name`, which need not be a legal database key.
    func member(_ name: String) -> Node {
        child(Key(unchecked: Array(name.utf8)))
    }
}
