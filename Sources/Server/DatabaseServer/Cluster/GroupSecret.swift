import Files
import JSONTree
import Tokens

/// The secret that the nodes of a group have in common, and no others: it seals keys in the log, beats, and what a node says
/// of the clients whose requests it relays.
struct GroupSecret: Sendable {
    private static let keysPrefix = "hgk1_"
    /// Characters of the secret; it is random, so 32 of them cannot be tried through.
    private static let byteCount = 32...4096
    /// Bytes of the code behind a beat.
    private static let codeByteCount = 32
    /// Seconds between the clocks of two nodes, at most; and for a relayed request to arrive.
    private static let relaySeconds: Int64 = 300

    private let path: String
    private let keysBox: SealedBox
    private let relayBox: SealedBox
    private let secret: [UInt8]
    /// Seconds that a signing key signs.
    private let lifetime: Int64

    /// Reads the file of the secret.
    ///
    /// - Throws: `FileError`, also when others may read it; `ClusterStartError.secret` for one that is too short.
    init(file path: String, keyLifetime lifetime: Int64) throws {
        self.path = path
        self.lifetime = lifetime
        let limit = Self.byteCount
        secret = try SmallFile.readSecret(path, byteLimit: limit.upperBound + 64)
        guard limit.contains(secret.count) else {
            throw ClusterStartError.secret(path: path, byteCount: secret.count)
        }
        guard let keysBox = SealedBox(secret: secret, purpose: "keys of a group"),
            let relayBox = SealedBox(secret: secret, purpose: "relayed request")
        else { throw KeyFolderError.noRandomness }
        (self.keysBox, self.relayBox) = (keysBox, relayBox)
    }

    // MARK: - Keys in the log

    /// The text for the log.
    func seal(_ keys: GroupKeys) throws(KeyFolderError) -> String {
        guard let sealed = keys.text.flatMap(keysBox.seal) else { throw .noRandomness }
        return Self.keysPrefix + Base64.encode(sealed, .url)
    }

    /// The keys of a text of the log.
    ///
    /// - Throws: `ClusterStartError.otherSecret` for one that was sealed with another secret, or by a newer server.
    func open(_ text: String) throws(ClusterStartError) -> GroupKeys {
        guard text.hasPrefix(Self.keysPrefix),
            let sealed = Base64.decodeURL(text.utf8.dropFirst(Self.keysPrefix.utf8.count)),
            let opened = keysBox.open(sealed)
        else { throw .otherSecret(path: path) }
        do { return try GroupKeys(text: opened, lifetime: lifetime) } catch {
            throw .otherSecret(path: path)
        }
    }

    // MARK: - Beats

    /// A beat with its code, HMAC-SHA256 with the secret: others could send clients' requests to a host of theirs.
    func sign(_ beat: [UInt8]) -> [UInt8] { beat + code(of: beat) }

    /// The beat of signed bytes; nil for those that no node of the group has signed.
    func beat(in bytes: [UInt8]) -> [UInt8]? {
        let beat = Array(bytes.dropLast(Self.codeByteCount))
        let isOurs = ConstantTime.equal(Array(bytes.suffix(Self.codeByteCount)), code(of: beat))
        return isOurs ? beat : nil
    }

    private func code(of beat: [UInt8]) -> [UInt8] {
        HashMAC.code(of: Array("beat ".utf8) + beat, secret: secret) ?? Randomness.bytes(32)
    }

    // MARK: - Relayed requests

    /// The header in which a node says that it relays a request, sealed: only nodes of the group can.
    static let relayHeader = "hearth-relay"

    /// What the header says at a time, seconds since 1970.
    func relayWords(at now: Int64) -> String? {
        relayBox.seal(Array("\(now)".utf8)).map { Base64.encode($0, .url) }
    }

    /// Whether these are words of a node of the group, of about now.
    func isRelay(_ words: String, at now: Int64) -> Bool {
        guard let sealed = Base64.decodeURL(words.utf8), let opened = relayBox.open(sealed),
            let time = Int64(String(decoding: opened, as: UTF8.self))
        else { return false }
        return abs(now - time) <= Self.relaySeconds
    }
}
