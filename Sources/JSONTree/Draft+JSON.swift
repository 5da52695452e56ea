extension Draft {
    /// Reads JSON text in the form that writes take.
    ///
    /// - Throws: `JSONError` with the offset of what is wrong.
    package init(json: [UInt8]) throws(JSONError) {
        self = try json.withBytes { (bytes) throws(JSONError) in
            var scanner = JSONScanner(bytes)
            let draft = try scanner.readDraft()
            try scanner.expectEnd()
            return draft
        }
    }
}

extension Node {
    /// Reads JSON text that holds no server values.
    ///
    /// - Throws: `JSONError` with the offset of what is wrong.
    package init(json: [UInt8]) throws(JSONError) {
        self = try json.withBytes { (bytes) throws(JSONError) in
            var scanner = JSONScanner(bytes)
            let node = try scanner.readNode(anyKeys: false)
            try scanner.expectEnd()
            return node
        }
    }

    /// Reads JSON text that holds no server values.
    ///
    /// - Throws: `JSONError` with the offset of what is wrong.
    package init(json: String) throws(JSONError) {
        try self.init(json: Array(json.utf8))
    }
}
