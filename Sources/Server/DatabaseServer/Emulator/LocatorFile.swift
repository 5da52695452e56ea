import Files
import Glibc

/// The file by which tools find the hub of a project: `hub-PROJECT.json` in the temporary folder.
///
/// Source: firebase-tools, `emulator/hub.ts`.
struct LocatorFile {
    let path: String
    private let text: [UInt8]

    /// Writes the file in place of one that an earlier server left.
    init(project: String, text: [UInt8]) throws(FileError) {
        path = "\(LocatorFile.folder)/hub-\(project).json"
        self.text = text
        let draft = try FileDraft(path, permissions: 0o644)
        try draft.write(text)
        try draft.commit()
    }

    /// Removes the file, unless another server has written its own since.
    func remove() throws(FileError) {
        guard FileStamp.of(path) != nil else { return }
        let found = try SmallFile.read(path, byteLimit: 64 * 1024).bytes
        guard found == text else { return }
        guard unlink(path) == 0 || errno == ENOENT else {
            throw .system(call: "remove", path: path, code: errno)
        }
    }

    /// The system's temporary folder, as the tools that look there find it.
    private static var folder: String {
        for name in ["TMPDIR", "TMP", "TEMP"] {
            guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else {
                continue
            }
            return value.count > 1 && value.hasSuffix("/") ? String(value.dropLast()) : value
        }
        return "/tmp"
    }
}
