import Files
import Glibc

/// What can be seen of a data folder from outside: nothing is opened for writing, locked or made.
struct FolderLook: Equatable {
    enum Presence: Equatable {
        /// Not there; a server makes it. Whether it may, in the folder above.
        case missing(canBeMade: Bool)
        /// There, and no folder.
        case other
        case folder
    }

    enum Lock: Equatable {
        case free
        /// Another process holds it; nil when it is not known which.
        case held(process: Int?)
    }

    let presence: Presence
    /// Permission bits; 0 when there is no folder.
    var permissions: UInt32 = 0
    /// Why this user may not read and write in it: the system's error number, 0 where that works.
    var accessFailure = EACCES
    var lock = Lock.free
    /// Bytes that are free for this user on its file system.
    var freeByteCount: UInt64 = 0
    /// Bytes of its file system; 0 when that is not known.
    var diskByteCount: UInt64 = 0

    /// Looks at the folder at `path`.
    init(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let above = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
            let parent = above.isEmpty ? "/" : above
            presence = .missing(canBeMade: access(parent, W_OK | X_OK) == 0)
            (freeByteCount, diskByteCount) = Self.room(parent)
            return
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            presence = .other
            return
        }
        presence = .folder
        permissions = status.st_mode & 0o777
        accessFailure = access(path, R_OK | W_OK | X_OK) == 0 ? 0 : errno
        (freeByteCount, diskByteCount) = Self.room(path)
        lock = Self.lock("\(path)/LOCK")
    }

    private static func room(_ path: String) -> (free: UInt64, total: UInt64) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return (0, 0) }
        let block = UInt64(status.f_frsize)
        return (UInt64(status.f_bavail) * block, UInt64(status.f_blocks) * block)
    }

    /// Whether a process holds the lock file: it is looked up among the locks of the system, since trying the lock would
    /// be in the way of a server that starts at this moment.
    private static func lock(_ path: String) -> Lock {
        var status = stat()
        guard stat(path, &status) == 0 else { return .free }
        let named = Int(SystemFile.text(of: path).prefix { $0 != "\n" })
        for line in SystemFile.text(of: "/proc/locks").split(separator: "\n") {
            guard let found = HeldLock(line), found.inode == UInt64(status.st_ino) else { continue }
            // Some file systems show another device here than in `stat`; then the process that the file names counts.
            guard found.device == UInt64(status.st_dev) || found.process == named else { continue }
            return .held(process: found.process > 0 ? found.process : nil)
        }
        return .free
    }

    /// A line of `/proc/locks` such as `1: FLOCK  ADVISORY  WRITE 4711 08:02:1310733 0 EOF`.
    struct HeldLock: Equatable {
        let process: Int
        let device: UInt64
        let inode: UInt64

        /// nil for a line that is not of an exclusive flock.
        init?(_ line: Substring) {
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE",
                let process = Int(words[4])
            else { return nil }
            let numbers = words[5].split(separator: ":")
            guard numbers.count == 3, let major = UInt64(numbers[0], radix: 16),
                let minor = UInt64(numbers[1], radix: 16), let inode = UInt64(numbers[2])
            else { return nil }
            self.process = process
            self.inode = inode
            // As gnu_dev_makedev has it.
            device =
                (minor & 0xff) | (major & 0xfff) << 8 | (minor & ~0xff) << 12
                | (major & ~0xfff) << 32
        }
    }
}
