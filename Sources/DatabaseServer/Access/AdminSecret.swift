package import Files
import Glibc
import Tokens

/// The secret that makes a caller the administrator: whoever sends it passes all rules.
package struct AdminSecret: Sendable {
    private let bytes: [UInt8]

    /// The name of the generated secret's file in the data folder.
    package static let fileName = "admin-secret"

    /// Bytes of a configured secret; 16 is what a guesser cannot try through.
    package static let byteCount = 16...4096

    /// - Throws: `AdminSecretError` for one that is too short or cannot be sent in a header.
    package init(_ text: [UInt8]) throws(AdminSecretError) {
        guard Self.byteCount.contains(text.count) else {
            throw .length(byteCount: text.count)
        }
        guard text.allSatisfy({ (33...126).contains($0) }) else { throw .forbiddenCharacter }
        self.bytes = text
    }

    /// A new one with 256 random bits.
    package static func generate() -> AdminSecret {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
        return AdminSecret(unchecked: Array(Base64URL.encode(bytes).utf8))
    }

    /// The secret of the file at `path`; white space around it does not count.
    ///
    /// - Throws: `AdminSecretError` when it cannot be read, others may read it, or it is no secret.
    package static func load(_ path: String) throws(AdminSecretError) -> AdminSecret {
        let content: SmallFile.Content
        do {
            content = try SmallFile.read(path, byteLimit: byteCount.upperBound + 64)
        } catch {
            throw .file(error)
        }
        guard content.permissions & 0o077 == 0 else { throw .readableByOthers(path: path) }
        return try AdminSecret(trimmed(content.bytes))
    }

    /// The secret of a data folder, generated when the folder has none.
    ///
    /// Two processes that do this at once end up with the same one.
    package static func inFolder(_ folder: String) throws(AdminSecretError) -> AdminSecret {
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

    /// Whether `credential` is this secret; takes as long wherever the two differ.
    package func matches(_ credential: String) -> Bool {
        ConstantTime.equal(bytes, Array(credential.utf8))
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        let isSpace: (UInt8) -> Bool = { $0 == 32 || (9...13).contains($0) }
        return Array(bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}

/// Why there is no admin secret.
package enum AdminSecretError: Error, Equatable, Sendable, CustomStringConvertible {
    case file(FileError)
    /// Group or others have a permission on the file.
    case readableByOthers(path: String)
    case length(byteCount: Int)
    case forbiddenCharacter

    package var description: String {
        switch self {
        case .file(let error): "\(error)"
        case .readableByOthers(let path):
            "\(path): others may read this secret; run: chmod 600 \(path)"
        case .length(let byteCount):
            "the admin secret has \(byteCount) characters; it must have "
                + "\(AdminSecret.byteCount.lowerBound) to \(AdminSecret.byteCount.upperBound)"
        case .forbiddenCharacter:
            "the admin secret has a space, a control character or one outside ASCII in it"
        }
    }
}
