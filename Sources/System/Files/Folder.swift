import Glibc

/// Folders, as far as exports and restores need them.
package enum Folder {
    /// Makes a folder and those above it that are missing.
    package static func create(_ path: String) throws(FileError) {
        guard mkdir(path, 0o777) != 0 else { return }
        switch errno {
        case EEXIST: return
        case ENOENT:
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { break }
            try create(String(path[..<slash]))
            guard mkdir(path, 0o777) != 0, errno != EEXIST else { return }
        default: break
        }
        throw .system(call: "create folder", path: path, code: errno)
    }

    /// Whether there is a folder at `path`.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The names in a folder, sorted.
    package static func names(_ path: String) throws(FileError) -> [String] {
        guard let folder = opendir(path) else {
            throw .system(call: "open", path: path, code: errno)
        }
        defer { closedir(folder) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw .system(call: "list", path: path, code: errno) }
        return names.sorted()
    }
}
