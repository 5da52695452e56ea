import Glibc

/// Which process listens on a port, as far as this user may know: of processes of others Linux tells nothing.
enum PortHolder {
    /// What follows "address already in use".
    static func words(of port: Int) -> String {
        let sockets = listening(on: port)
        let rest = "; stop it, or choose another port"
        guard !sockets.isEmpty, let process = process(holding: sockets) else {
            return " by another process\(rest)"
        }
        let name = text(of: "/proc/\(process)/comm").prefix { $0 != "\n" }
        return " by process \(process)" + (name.isEmpty ? "" : " (\(name))") + rest
    }

    /// The sockets that listen on the port, by their inodes.
    static func listening(on port: Int) -> Set<UInt64> {
        var found: Set<UInt64> = []
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            for line in text(of: table).split(separator: "\n").dropFirst() {
                guard let socket = ListedSocket(line), socket.isListening, socket.port == port
                else { continue }
                found.insert(socket.inode)
            }
        }
        return found
    }

    /// A line of `/proc/net/tcp`, such as `0: 0100007F:2328 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4711 1`.
    struct ListedSocket: Equatable {
        let port: Int
        let isListening: Bool
        let inode: UInt64

        /// nil for a line of another form.
        init?(_ line: Substring) {
            let words = line.split(separator: " ")
            guard words.count >= 10, let colon = words[1].lastIndex(of: ":"),
                let port = Int(words[1][words[1].index(after: colon)...], radix: 16),
                let inode = UInt64(words[9])
            else { return nil }
            self.port = port
            self.inode = inode
            // TCP_LISTEN of the kernel's table of states.
            isListening = words[3] == "0A"
        }
    }

    /// The first process that has one of the sockets open.
    private static func process(holding sockets: Set<UInt64>) -> Int? {
        let names = Set(sockets.map { "socket:[\($0)]" })
        for process in entries("/proc").compactMap({ Int($0) }).sorted() {
            for descriptor in entries("/proc/\(process)/fd") {
                var target = [CChar](repeating: 0, count: 64)
                let path = "/proc/\(process)/fd/\(descriptor)"
                let count = readlink(path, &target, target.count)
                guard count > 0 else { continue }
                let bytes = target[..<count].map { UInt8(bitPattern: $0) }
                if names.contains(String(decoding: bytes, as: UTF8.self)) { return process }
            }
        }
        return nil
    }

    private static func entries(_ folder: String) -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    /// The text of a file of the system, at most 1 MiB of it; empty when it cannot be read.
    private static func text(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        while bytes.count < 1 << 20 {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
