import JSONTree

/// The public keys that tokens may be signed with, by name.
///
/// A JWKS (RFC 7517): `{"keys":[{"kty":"RSA","kid":"k1","n":"...","e":"AQAB"}, ...]}`. Of its keys only RSA and
/// P-256 keys for signatures count; symmetric and encryption keys are passed over, so that a secret can never be
/// smuggled in as a public key or the other way round.
package struct KeySet: Sendable {
    private let keys: [String: PublicKey]

    /// No key at all: no token with a public-key signature passes.
    package static let empty = KeySet(keys: [:])

    private init(keys: [String: PublicKey]) {
        self.keys = keys
    }

    /// The usable keys of a JWKS text.
    ///
    /// - Throws: `KeySetError` for the first fault; one bad signing key spoils the whole file, because a set that
    ///   silently lacks a key looks like an outage to its users.
    package init(jwks: [UInt8]) throws(KeySetError) {
        guard jwks.count <= TokenLimits.keySetByteCount else {
            throw .tooLarge(byteCount: jwks.count)
        }
        var keys: [String: PublicKey] = [:]
        for (index, entry) in try Self.entries(jwks).enumerated() {
            guard let (name, key) = try Self.signingKey(entry, index) else { continue }
            guard keys.updateValue(key, forKey: name) == nil else {
                throw .duplicateKeyID(index: index)
            }
        }
        guard !keys.isEmpty else { throw .noUsableKey }
        self.keys = keys
    }

    /// How many keys can check signatures.
    package var count: Int { keys.count }

    /// The key named `keyID` if it is one for `algorithm`.
    func key(_ keyID: String?, for algorithm: Algorithm) -> PublicKey? {
        guard let keyID, let key = keys[keyID], key.algorithm == algorithm else { return nil }
        return key
    }

    private static func entries(_ jwks: [UInt8]) throws(KeySetError) -> [Node] {
        let root: Node
        do {
            root = try Node.readingAnyJSON(jwks)
        } catch {
            throw .notJSON(offset: error.offset)
        }
        let list = root.member("keys")
        guard list.isMap else { throw .noKeyList }
        guard list.childCount <= TokenLimits.keyCount else {
            throw .tooManyKeys(count: list.childCount)
        }
        var entries: [Node] = []
        list.visitChildren { _, entry in
            entries.append(entry)
            return true
        }
        return entries
    }

    /// The name and key of one entry; nil for an entry that is not for signatures.
    private static func signingKey(
        _ entry: Node,
        _ index: Int,
    ) throws(KeySetError) -> (String, PublicKey)? {
        guard let type = entry.member("kty").string else { throw .badKey(index: index, "kty") }
        let algorithm = Algorithm(rawValue: entry.member("alg").string ?? "")
        let use = entry.member("use").string ?? "sig"
        guard use == "sig", type == "RSA" || type == "EC" else { return nil }
        guard type == "RSA" || entry.member("crv").string == "P-256" else { return nil }
        let expected: Algorithm = type == "RSA" ? .rs256 : .es256
        guard entry.member("alg").isAbsent || algorithm == expected else { return nil }
        guard entry.member("d").isAbsent else { throw .privateKey(index: index) }
        guard let name = entry.member("kid").string,
            TokenLimits.keyIDLength.contains(name.unicodeScalars.count)
        else { throw .badKey(index: index, "kid") }
        let key =
            switch expected {
            case .rs256:
                PublicKey(
                    modulus: try number(entry, "n", index),
                    exponent: try number(entry, "e", index),
                )
            default:
                PublicKey(x: try number(entry, "x", index), y: try number(entry, "y", index))
            }
        guard let key else { throw .badKey(index: index, type == "RSA" ? "n" : "x") }
        return (name, key)
    }

    private static func number(
        _ entry: Node,
        _ member: String,
        _ index: Int,
    ) throws(KeySetError) -> [UInt8] {
        guard let text = entry.member(member).string,
            let bytes = Base64URL.decode(Array(text.utf8)), !bytes.isEmpty
        else { throw .badKey(index: index, member) }
        return bytes
    }
}

/// Why a text is not a set of keys; `index` counts the entries of `keys` from 0.
package enum KeySetError: Error, Equatable, Sendable {
    /// Longer than `TokenLimits.keySetByteCount`.
    case tooLarge(byteCount: Int)
    case notJSON(offset: Int)
    /// There is no `keys` list, or it is empty.
    case noKeyList
    /// More than `TokenLimits.keyCount`.
    case tooManyKeys(count: Int)
    /// A member of a signing key is missing or not usable.
    case badKey(index: Int, String)
    /// A private key stands where only public ones belong.
    case privateKey(index: Int)
    case duplicateKeyID(index: Int)
    /// None of the keys is RSA or P-256 for signatures.
    case noUsableKey
}
