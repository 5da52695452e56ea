import Foundation
package import Glibc

/// A folder of one test, gone with it.
package final class TemporaryFolder {
    package let path: String

    package init() throws {
        let parent = FileManager.default.temporaryDirectory
        var template = Array(parent.appending(path: "hearth-test-XXXXXX").path.utf8CString)
        guard mkdtemp(&template) != nil else { throw FolderError(code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        Self.remove(path)
    }

    private static func remove(_ path: String) {
        for name in names(path) where unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
        rmdir(path)
    }

    /// Writes a file of this folder and gives its path.
    package func file(_ name: String, _ text: String, permissions: mode_t = 0o600) throws -> String
    {
        let path = "\(path)/\(name)"
        unlink(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, permissions)
        guard descriptor >= 0 else { throw FolderError(code: errno) }
        defer { close(descriptor) }
        guard fchmod(descriptor, permissions) == 0, write(descriptor, text, text.utf8.count) >= 0
        else { throw FolderError(code: errno) }
        return path
    }

    /// The names of the files in it, sorted; none when it is gone.
    package func names() -> [String] { Self.names(path) }

    private static func names(_ path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
            )
        }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }

    struct FolderError: Error {
        let code: Int32
    }
}
