import BlobStore
import Files
import Glibc
import WriteAheadLog

/// A new data folder, written under another name beside its own, which it gets when it is whole.
enum FolderDraft {
    /// Lets `work` fill the folder, makes it durable under the name `path`, and returns what `work` did.
    ///
    /// Its name until then is `path.suffix`, and what a call that was cut short left there is removed.
    ///
    /// - Throws: `destinationExists`; `strangeDraft`; `log`, case `inUse`, beside another call; what `work` throws, and
    ///   then nothing is left.
    static func fill<Value>(
        _ path: String,
        _ suffix: String,
        _ work: (FileLogStorage) throws(BackupError) -> Value
    ) throws(BackupError) -> Value {
        let bare = try destination(path)
        guard try isFree(bare) else { throw .destinationExists(path: bare) }
        let draft = "\(bare).\(suffix)"
        try makeFolder(draft)
        let storage = FileLogStorage(path: draft)
        let value: Value
        do throws(BackupError) { value = try work(storage) } catch {
            try removeLeftovers(storage)
            rmdir(draft)
            throw error
        }
        guard rename(draft, bare) == 0 else {
            throw .file(.system(call: "rename", path: draft, code: errno))
        }
        do throws(FileError) { try SmallFile.syncFolder(of: bare) } catch { throw .file(error) }
        return value
    }

    /// `path` without slashes at its end, and without being a link.
    private static func destination(_ path: String) throws(BackupError) -> String {
        var bare = path
        while bare.count > 1, bare.hasSuffix("/") { bare.removeLast() }
        var status = stat()
        guard lstat(bare, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return bare }
        guard let resolved = realpath(bare, nil) else {
            throw .file(.system(call: "follow link", path: bare, code: errno))
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Makes a new folder, in place of what a call that was cut short left there.
    ///
    /// Throws: `strangeDraft` for a folder that no such call has left; `log`, case `inUse`, beside one under way.
    private static func makeFolder(_ path: String) throws(BackupError) {
        var status = stat()
        if lstat(path, &status) == 0 {
            // What others may write to could lead anywhere.
            guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
                status.st_mode & (S_IWGRP | S_IWOTH) == 0
            else { throw .strangeDraft(path: path) }
            try removeLeftovers(FileLogStorage(path: path))
            guard rmdir(path) == 0 else {
                guard errno == ENOTEMPTY || errno == EEXIST else {
                    throw .file(.system(call: "remove", path: path, code: errno))
                }
                throw .strangeDraft(path: path)
            }
        }
        guard mkdir(path, 0o700) == 0 else {
            throw .file(.system(call: "create folder", path: path, code: errno))
        }
    }

    private static func removeLeftovers(_ storage: FileLogStorage) throws(BackupError) {
        try logged { () throws(LogError) in
            for name in MarkFile.names { try storage.remove(name) }
            try ArchiveRestore.removeLeftovers(storage)
        }
        do throws(BlobError) { try BlobFolder(storage).removeAll() } catch { throw .blob(error) }
    }

    /// Whether nothing is at `path`, or an empty folder.
    private static func isFree(_ path: String) throws(BackupError) -> Bool {
        guard FileStamp.of(path) != nil else { return true }
        guard Folder.exists(path) else { return false }
        do throws(FileError) { return try Folder.names(path).isEmpty } catch { throw .file(error) }
    }
}
