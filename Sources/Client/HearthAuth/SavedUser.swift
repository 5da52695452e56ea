import Foundation

/// The file that says who is signed in to an app, for the next start of the program.
///
///     {"version":1, "server":"https://db.example.com", "user":{"uid":..., "tokens":{...}, ...}}
///
/// Only the owner may read the file, and it is always replaced whole. It is a file on systems with a keychain too.
struct SavedUser: Sendable {
    private struct Content: Codable {
        let version: Int
        /// A refresh token is shown to no other server than its own.
        let server: String
        let user: UserRecord
    }

    enum Failure: Error, Equatable {
        /// There is a file, and it says nothing of use.
        case damaged
        case failed(String)
    }

    let folder: String
    var path: String { "\(folder)/signed-in-user.json" }

    private static let version = 1
    /// Bytes; a user with many identities has some thousands.
    private static let sizeLimit = 1024 * 1024

    /// The user who was signed in at `server`; nil for none, or for another server.
    func load(server: String) throws(Failure) -> UserRecord? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .failed(Self.words(errno))
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let bytes = try? file.read(upToCount: Self.sizeLimit),
            let content = try? JSONDecoder().decode(Content.self, from: bytes),
            content.version == Self.version, !content.user.uid.isEmpty
        else { throw .damaged }
        return content.server == server ? content.user : nil
    }

    func save(_ user: UserRecord, server: String) throws(Failure) {
        let content = Content(version: Self.version, server: server, user: user)
        guard let bytes = try? JSONEncoder().encode(content) else { throw .damaged }
        do {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw .failed(error.localizedDescription)
        }
        let draft = "\(path).new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed(Self.words(errno)) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: bytes)
            try file.synchronize()
        } catch {
            unlink(draft)
            throw .failed(error.localizedDescription)
        }
        guard rename(draft, path) == 0 else {
            let code = errno
            unlink(draft)
            throw .failed(Self.words(code))
        }
    }

    func remove() throws(Failure) {
        if unlink(path) != 0, errno != ENOENT, errno != ENOTDIR { throw .failed(Self.words(errno)) }
    }

    private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
}
