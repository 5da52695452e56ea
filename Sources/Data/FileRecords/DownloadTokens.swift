/// The download tokens of an object: each opens its bytes for reading to everyone who has it.
package enum DownloadTokens {
    /// Whether `token` is one of `tokens`.
    ///
    /// Looks at every byte of every token of that length, so the duration says nothing about where they differ.
    package static func contains(_ token: String, in tokens: [String]) -> Bool {
        let given = Array(token.utf8)
        var isFound = false
        for candidate in tokens {
            let bytes = Array(candidate.utf8)
            if bytes.count != given.count { continue }
            var difference: UInt8 = 0
            for index in bytes.indices { difference |= bytes[index] ^ given[index] }
            // Both sides are evaluated.
            let isEqual = difference == 0
            isFound = isEqual || isFound
        }
        return isFound && !given.isEmpty
    }

    /// The tokens of a comma-separated text.
    package static func list(_ text: String) throws(MetadataFault) -> [String] {
        var tokens: [String] = []
        for part in text.split(separator: ",") {
            let token = String(part.drop { $0 == " " })
            guard isToken(token) else { throw .token }
            if tokens.contains(token) { continue }
            guard tokens.count < FileLimits.tokenCount else { throw .tokenCount }
            tokens.append(token)
        }
        return tokens
    }

    /// Whether a text can be a token.
    package static func isToken(_ text: String) -> Bool {
        (1...FileLimits.tokenByteCount).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
    }

    /// Does to `tokens` what the value of the custom key says; nil is null.
    static func merge(
        _ value: String?,
        into tokens: inout [String],
        _ use: FileMetadataBody.TokenUse
    ) throws(MetadataFault) {
        switch use {
        case .ignore: return
        case .set: tokens = try list(value ?? "")
        case .add:
            for token in try list(value ?? "") where !tokens.contains(token) {
                tokens.append(token)
            }
            guard tokens.count <= FileLimits.tokenCount else { throw .tokenCount }
        }
    }
}
