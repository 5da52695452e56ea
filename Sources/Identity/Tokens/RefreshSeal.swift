import JSONTree

/// Converts tickets to refresh tokens and back; this needs the key.
///
///     "hr1_" base64url( MAC, 32 bytes | ticket, JSON )
///     MAC = HMAC-SHA256 under the key, of "hr1_" and the ticket
///     ticket = {"u":uid,"p":provider,"t":signed in at,"c":text of the claims, when there are some}
///
/// A ticket holds nothing that the ID token beside it does not say in clear, so it is sealed and not encrypted. The
/// prefix names the form, so that another one can come beside it.
package struct RefreshSeal: Sendable {
    private static let prefix = Array("hr1_".utf8)

    /// `TokenLimits.sealKeyByteCount` random bytes.
    private let key: [UInt8]

    package init(key: [UInt8]) {
        precondition(key.count == TokenLimits.sealKeyByteCount, "the key of the seal is whole")
        self.key = key
    }

    /// The token of a ticket; nil when that is longer than a token may be, or OpenSSL is out of memory.
    package func seal(_ ticket: RefreshTicket) -> String? {
        let text = Self.text(of: ticket)
        guard let code = code(of: text) else { return nil }
        let token = String(decoding: Self.prefix, as: UTF8.self) + Base64.encode(code + text, .url)
        return token.utf8.count <= TokenLimits.refreshTokenByteCount ? token : nil
    }

    /// The ticket of a token; nil unless this seal made it, to the last character.
    package func open(_ token: String) -> RefreshTicket? {
        let characters = Array(token.utf8)
        guard characters.count <= TokenLimits.refreshTokenByteCount,
            characters.starts(with: Self.prefix),
            let bytes = Base64.decodeURL(characters.dropFirst(Self.prefix.count)),
            bytes.count > HashMAC.byteCount
        else { return nil }
        let text = Array(bytes[HashMAC.byteCount...])
        guard let code = code(of: text),
            ConstantTime.equal(code, Array(bytes[..<HashMAC.byteCount]))
        else { return nil }
        return Self.ticket(in: text)
    }

    private func code(of text: [UInt8]) -> [UInt8]? {
        HashMAC.code(of: Self.prefix + text, secret: key)
    }

    private static func text(of ticket: RefreshTicket) -> [UInt8] {
        let text: JSONValue = [
            "u": .string(ticket.uid), "p": .string(ticket.provider),
            "t": .integer(ticket.signedInAt),
            // As a text, so that every byte is preserved.
            "c": ticket.claims.map { .string(String(decoding: $0, as: UTF8.self)) },
        ]
        return text.text
    }

    private static func ticket(in text: [UInt8]) -> RefreshTicket? {
        do throws(JSONError) {
            let node = try Node.readingAnyJSON(text)
            guard let uid = node.member("u").string, let provider = node.member("p").string,
                let signedInAt = node.member("t").integer
            else { return nil }
            return RefreshTicket(
                uid: uid,
                provider: provider,
                signedInAt: signedInAt,
                claims: node.member("c").string.map { Array($0.utf8) }
            )
        } catch {
            return nil
        }
    }
}
