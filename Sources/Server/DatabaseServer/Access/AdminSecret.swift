import Files
import JSONTree
import Tokens

/// The secret that makes a caller the administrator, who passes all rules.
struct AdminSecret: Sendable {
    /// Its characters.
    let bytes: [UInt8]

    /// The name of the generated secret's file in the data folder.
    static let fileName = "admin-secret"

    /// Bytes of a configured secret; 16 is what a guesser cannot try through.
    static let byteCount = 16...4096

    /// - Throws: `AdminSecretError` for one that is too short or cannot be sent in a header.
    init(_ text: [UInt8]) throws(AdminSecretError) {
        guard Self.byteCount.contains(text.count) else {
            throw .length(byteCount: text.count)
        }
        guard text.allSatisfy({ (33...126).contains($0) }) else { throw .forbiddenCharacter }
        self.bytes = text
    }

    /// A new one with 256 random bits.
    static func generate() -> AdminSecret {
        AdminSecret(unchecked: Array(Base64.encode(Randomness.bytes(32), .url).utf8))
    }

    /// The secret of the file at `path`; white space around it does not count.
    ///
    /// - Throws: `AdminSecretError` when it cannot be read, others may read it, or it is no secret.
    static func load(_ path: String) throws(AdminSecretError) -> AdminSecret {
        let text: [UInt8]
        do throws(FileError) {
            text = try SmallFile.readSecret(path, byteLimit: byteCount.upperBound + 64)
        } catch {
            throw .file(error)
        }
        return try AdminSecret(text)
    }

    /// The secret of a data folder, generated when the folder has none.
    ///
    /// Two processes that do this at once end up with the same one.
    static func inFolder(_ folder: String) throws(AdminSecretError) -> AdminSecret {
        let path = "\(folder)/\(fileName)"
        if FileStamp.of(path) == nil {
            let secret = generate()
            do {
                _ = try SmallFile.createPrivate(path, secret.bytes + [UInt8(ascii: "\n")])
            } catch {
                throw .file(error)
            }
        }
        return try load(path)
    }

    /// Puts this secret in place of the one of a data folder.
    func write(toFolder folder: String) throws(FileError) {
        let draft = try FileDraft("\(folder)/\(Self.fileName)", permissions: 0o600)
        try draft.write(bytes + [UInt8(ascii: "\n")])
        try draft.commit()
    }

    /// Whether `credential` is this secret; takes as long wherever the two differ.
    func matches(_ credential: String) -> Bool {
        ConstantTime.equal(bytes, Array(credential.utf8))
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// Why there is no admin secret.
enum AdminSecretError: Error, Equatable, Sendable, CustomStringConvertible {
    case file(FileError)
    case length(byteCount: Int)
    case forbiddenCharacter

    var description: String {
        switch self {
        case .file(let error): "\(error)"
        case .length(let byteCount):
            "the admin secret has \(byteCount) characters; it must have "
                + "\(AdminSecret.byteCount.lowerBound) to \(AdminSecret.byteCount.upperBound)"
        case .forbiddenCharacter:
            "the admin secret has a space, a control character or one outside ASCII in it"
        }
    }
}
