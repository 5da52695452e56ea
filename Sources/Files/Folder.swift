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
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
