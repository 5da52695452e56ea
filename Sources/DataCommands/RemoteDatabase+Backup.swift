import HTTPClient

extension RemoteDatabase {
    /// Asks a Hearth server for everything in all its databases, and gives the bytes to `receive` as they come.
    ///
    /// - Throws: `CommandError` for a refusal, a lost connection, or what `receive` throws.
    package func backUp(
        receive: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws(CommandError) {
        let request = HTTPRequest(
            .get,
            address.origin + "/.backup",
            headers: address.headers
        )
        var progress = Progress("backup", console)
        var byteCount = 0
        defer { progress.clear() }
        try perform(request) { bytes in
            try receive(bytes)
            byteCount += bytes.count
            progress.show(byteCount)
        }
    }
}
