package import BlobStore
import Glibc
package import JSONTree
import Synchronization
package import WriteAheadLog

/// What files need that are never written again. A write to a protected file is a bug, and ends the process.
extension SimulatedLogStorage: BlobStorage {
    /// Sets the clock of the disk, which begins in 1970 and stands still.
    package func setTime(_ time: Timestamp) {
        disk.withLock { $0.now = time.milliseconds }
    }

    package func createNew(_ path: String) throws(LogError) -> any LogFile {
        let (id, life) = try disk.withLock { disk throws(LogError) in
            try disk.begin(.create, path)
            guard disk.find(path) == nil else { throw disk.failure(.create, path, EEXIST) }
            let id = disk.makeNode(isFolder: false)
            try disk.link(id, at: path, .create)
            return (id, disk.life)
        }
        return SimulatedLogFile(storage: self, id: id, path: path, life: life)
    }

    package func openToRead(_ path: String) throws(LogError) -> (any LogFile)? {
        try open(path)
    }

    package func link(_ path: String, to newPath: String) throws(LogError) -> Bool {
        try disk.withLock { disk throws(LogError) in
            try disk.begin(.link, newPath)
            guard let id = disk.find(path) else { throw disk.failure(.link, newPath, ENOENT) }
            guard disk.find(newPath) == nil else { return false }
            try disk.link(id, at: newPath, .link)
            return true
        }
    }

    package func protect(_ path: String) throws(LogError) {
        try disk.withLock { disk throws(LogError) in
            try disk.begin(.protect, path)
            guard let id = disk.find(path) else { throw disk.failure(.protect, path, ENOENT) }
            disk.nodes[id]?.isProtected = true
            try disk.sync(id, path)
        }
    }

    package func status(_ path: String) throws(LogError) -> FileStatus? {
        try disk.withLock { disk throws(LogError) in
            try disk.begin(.status, path)
            guard let node = disk.find(path).flatMap({ disk.nodes[$0] }) else { return nil }
            return FileStatus(
                kind: node.isFolder ? .folder : .file,
                byteCount: Int64(node.content.count),
                modified: Timestamp(milliseconds: node.modified),
                isProtected: node.isProtected
            )
        }
    }

    package func diskByteCount() throws(LogError) -> UInt64 {
        try disk.withLock { disk throws(LogError) in
            try disk.begin(.measureFreeSpace, "")
            return disk.capacity
        }
    }
}
