import Files
import Glibc

/// The process that listens on a port, if this user may know it: Linux hides the processes of others.
enum PortHolder {
    /// The text after "address already in use".
    static func words(of port: Int) -> String {
        let sockets = listening(on: port)
        let rest = "; stop it, or choose another port"
        guard !sockets.isEmpty, let process = process(holding: sockets) else {
            return " by another process\(rest)"
        }
        let name = SystemFile.text(of: "/proc/\(process)/comm").prefix { $0 != "\n" }
        return " by process \(process)" + (name.isEmpty ? "" : " (\(name))") + rest
    }

    /// The sockets that listen on the port, by their inodes.
    static func listening(on port: Int) -> Set<UInt64> {
        var found: Set<UInt64> = []
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            for line in SystemFile.text(of: table).split(separator: "\n").dropFirst() {
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

    /// The entries of a folder; empty if this user may not read it.
    private static func entries(_ folder: String) -> [String] {
        do throws(FileError) { return try Folder.names(folder) } catch { return [] }
    }
}
