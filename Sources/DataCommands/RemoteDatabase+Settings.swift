import HTTPClient

extension RemoteDatabase {
    /// Writes what stands at a settings address, byte for byte, to a file or standard output.
    ///
    /// - Parameters:
    ///   - path: The address, without `.json`.
    ///   - parameters: More of the query.
    ///   - output: A file, which is there under its name when it is whole; nil for standard output.
    /// - Throws: `CommandError` when the server refuses, or the file cannot be written.
    package func copySetting(
        _ path: DatabasePath,
        _ parameters: [(name: String, value: String)],
        to output: String?,
    ) throws(CommandError) {
        try write(perform(request(.get, path, parameters)).body, to: output)
    }

    /// Writes an answer to a file, which is there under its name when it is whole, or to standard output.
    func write(_ body: [UInt8], to output: String?) throws(CommandError) {
        let file = try OutputFile(output)
        try file.write(body)
        if file.isOnTerminal, body.last != UInt8(ascii: "\n") {
            try file.write([UInt8(ascii: "\n")])
        }
        try file.finish()
        if let output, output != "-" {
            console.mention("\(output): \(Amounts.bytes(file.byteCount))")
        }
    }
}
