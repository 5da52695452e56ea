import HTTPClient

extension RemoteDatabase {
    /// Prints the value at `path`, with a newline behind it, as it arrives.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - query: Which part of it, and in which form.
    ///   - output: A file; nil for standard output.
    /// - Throws: `CommandError` when the server refuses, or the file cannot be written.
    package func get(
        _ path: DatabasePath,
        _ query: QueryChoice,
        to output: String?,
    ) throws(CommandError) {
        let request = request(.get, path, query.parameters)
        let file = try OutputFile(output)
        var answer = JSONAnswer(address, path)
        var lastByte: UInt8?
        try perform(request) { bytes in
            try answer.check(bytes)
            try file.write(bytes)
            lastByte = bytes.last ?? lastByte
        }
        try answer.finish()
        if lastByte != UInt8(ascii: "\n") { try file.write([UInt8(ascii: "\n")]) }
        try file.finish()
        if let output, output != "-" {
            console.mention("\(output): \(Amounts.bytes(file.byteCount))")
        }
    }
}
