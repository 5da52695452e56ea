package import JSONTree

/// The public keys that tokens may be signed with, by name.
///
/// A JWKS (RFC 7517): `{"keys":[{"kty":"RSA","kid":"k1","n":"...","e":"AQAB"}, ...]}`. Of its keys only RSA and
/// P-256 keys for signatures count; symmetric and encryption keys are passed over, so that a secret can never be
/// smuggled in as a public key or the other way round.
package struct KeySet: Sendable {
    private let keys: [String: PublicKey]

    /// No key at all: no token with a public-key signature passes.
    package static let empty = KeySet(keys: [:])

    /// A set of these keys, by their names.
    package init(keys: [String: PublicKey]) {
        self.keys = keys
    }

    /// The usable keys of a JWKS text.
    ///
    /// - Throws: `KeySetError` for the first fault; one bad signing key spoils the whole file, because a set that
    ///   silently lacks a key causes an outage for its users.
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

    /// The keys for `algorithm`, in the order of their names.
    func all(for algorithm: Algorithm) -> [(name: String, key: PublicKey)] {
        keys.filter { $0.value.algorithm == algorithm }
            .map { (name: $0.key, key: $0.value) }
            .sorted { $0.name < $1.name }
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
        guard entry.member("kty").string != nil else { throw .badKey(index: index, "kty") }
        let named = entry.member("alg")
        guard entry.member("use").string ?? "sig" == "sig", let algorithm = algorithm(of: entry),
            named.isAbsent || named.string == algorithm.rawValue
        else { return nil }
        guard entry.member("d").isAbsent else { throw .privateKey(index: index) }
        guard let name = entry.member("kid").string,
            TokenLimits.keyIDLength.contains(name.unicodeScalars.count)
        else { throw .badKey(index: index, "kid") }
        return (name, try publicKey(algorithm, entry, index))
    }

    /// What the key of an entry is for; nil when it is neither RSA nor P-256.
    fileprivate static func algorithm(of entry: Node) -> Algorithm? {
        switch entry.member("kty").string {
        case "RSA": .rs256
        case "EC" where entry.member("crv").string == "P-256": .es256
        default: nil
        }
    }

    /// The key of an entry for `RS256` or `ES256`.
    fileprivate static func publicKey(
        _ algorithm: Algorithm,
        _ entry: Node,
        _ index: Int
    ) throws(KeySetError) -> PublicKey {
        let isRSA = algorithm == .rs256
        let key =
            isRSA
            ? PublicKey(
                modulus: try number(entry, "n", index),
                exponent: try number(entry, "e", index)
            )
            : PublicKey(x: try number(entry, "x", index), y: try number(entry, "y", index))
        guard let key else { throw .badKey(index: index, isRSA ? "n" : "x") }
        return key
    }

    private static func number(
        _ entry: Node,
        _ member: String,
        _ index: Int,
    ) throws(KeySetError) -> [UInt8] {
        guard let text = entry.member(member).string,
            let bytes = Base64.decodeURL(Array(text.utf8)), !bytes.isEmpty
        else { throw .badKey(index: index, member) }
        return bytes
    }
}

extension PublicKey {
    /// The key of a JSON object in the form of a JWKS, with any name.
    ///
    /// - Returns: nil when it is no RSA or P-256 key, has a private half, or its numbers are out of range.
    package init?(jwk: Node) {
        guard jwk.member("d").isAbsent, let algorithm = KeySet.algorithm(of: jwk)
        else { return nil }
        do throws(KeySetError) {
            self = try KeySet.publicKey(algorithm, jwk, 0)
        } catch {
            return nil
        }
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
    /// A private key where only public ones belong.
    case privateKey(index: Int)
    case duplicateKeyID(index: Int)
    /// None of the keys is RSA or P-256 for signatures.
    case noUsableKey
}
