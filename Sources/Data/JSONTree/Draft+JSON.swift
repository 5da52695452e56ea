extension Draft {
    /// Reads JSON text in the form that writes take.
    ///
    /// - Throws: `JSONError` with the offset of the fault.
    package init(json: [UInt8]) throws(JSONError) {
        self = try JSONScanner.whole(json) { (scanner) throws(JSONError) in
            try scanner.readDraft()
        }
    }
}

extension Node {
    /// Reads JSON text that holds no server values.
    ///
    /// - Throws: `JSONError` with the offset of the fault.
    package init(json: [UInt8]) throws(JSONError) {
        self = try JSONScanner.whole(json) { (scanner) throws(JSONError) in
            try scanner.readNode()
        }
    }

    /// Reads JSON text that holds no server values.
    ///
    /// - Throws: `JSONError` with the offset of the fault.
    package init(json: String) throws(JSONError) {
        try self.init(json: Array(json.utf8))
    }

    /// The node of one whole JSON text whose object members may have any name, for texts that are read and not stored.
    ///
    /// As in every node, null and empty members are left out.
    ///
    /// - Throws: `JSONError` with the offset of the first fault.
    package static func readingAnyJSON(_ bytes: [UInt8]) throws(JSONError) -> Node {
        try JSONScanner.whole(bytes) { (scanner) throws(JSONError) in
            try scanner.readNode(anyKeys: true)
        }
    }

    /// The child named `name`, which need not be a legal database key.
    package func member(_ name: String) -> Node {
        child(Key(unchecked: Array(name.utf8)))
    }
}

extension JSONScanner {
    /// Reads one value that is all of a text.
    package static func whole<Value>(
        _ json: [UInt8],
        _ read: (inout JSONScanner) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        try json.withBytes { (bytes) throws(JSONError) in
            var scanner = JSONScanner(bytes)
            let value = try read(&scanner)
            try scanner.expectEnd()
            return value
        }
    }
}
