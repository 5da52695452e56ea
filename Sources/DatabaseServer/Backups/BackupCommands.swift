import DatabaseCore
package import Files
import Glibc
import SecurityRules
import StateRecovery
import WriteAheadLog

/// The commands on backups that need no server: `hearth backup --data-dir`, `--verify`, `hearth restore`.
package enum BackupCommands {
    /// Reads a backup and everything in it, as a start of a server would.
    ///
    /// Memory: see `StateCheck`.
    package static func verify(_ file: String) -> CommandOutcome {
        do throws(BackupError) {
            return .done(try BackupContent.verify(file).description)
        } catch {
            return .failed("error: \(error)")
        }
    }

    /// Backs up a data folder that no server runs on; see `BackupFile.finish`.
    package static func backUp(
        _ folder: String,
        to file: String,
        isVerified: Bool
    ) -> CommandOutcome {
        do throws(BackupError) {
            return .done(try write(folder, to: file, isVerified).description)
        } catch {
            return .failed("error: \(error)")
        }
    }

    /// Makes a data folder of a backup, which is verified before.
    package static func restore(_ file: String, to folder: String) -> CommandOutcome {
        do throws(BackupError) {
            let summary = try restoreVerified(file, to: folder)
            return .done("restored \(folder) from \(summary)")
        } catch {
            return .failed("error: \(error)")
        }
    }

    // MARK: - Backing up

    private static func write(
        _ path: String,
        to file: String,
        _ isVerified: Bool
    ) throws(BackupError) -> BackupSummary {
        let pieces: ArchivePieces
        do throws(LogError) { pieces = try archive(of: path) } catch { throw .log(error) }
        return try write(pieces, to: file, isVerified)
    }

    /// The state of a folder, which is read under its lock as a start would.
    private static func archive(of path: String) throws(LogError) -> ArchivePieces {
        let storage = FileLogStorage(path: path)
        guard try DataFolder.isThere(storage) else { throw .notADataFolder(path: path) }
        let folder = try DataFolder.open(storage)
        defer { folder.close() }
        let policy = EnginePolicy(databases: [], createsDatabases: false, defaultRules: .closed)
        let state = try folder.recoverState(policy)
        let position = state.report.position
        try state.writer.close()
        return try ArchivePieces(
            state.engine.snapshots(),
            at: position,
            time: Clock.now(),
            id: UInt64.random(in: 0...UInt64.max)
        )
    }

    private static func write(
        _ pieces: ArchivePieces,
        to path: String,
        _ isVerified: Bool
    ) throws(BackupError) -> BackupSummary {
        let file = try BackupFile(path)
        var pieces = pieces
        var bytes: [UInt8] = []
        var isMore = true
        while isMore {
            bytes.removeAll(keepingCapacity: true)
            isMore = pieces.next(into: &bytes, atLeast: pieceByteCount)
            try bytes.withUnsafeBufferPointer { bytes throws(BackupError) in
                try file.write(UnsafeRawBufferPointer(bytes))
            }
        }
        return try file.finish(isVerified: isVerified)
    }

    private static let pieceByteCount = 256 * 1024

    // MARK: - Restoring

    /// The folder is written under another name beside its own, which it gets when it is whole.
    private static func restoreVerified(
        _ file: String,
        to path: String
    ) throws(BackupError) -> BackupSummary {
        let bare = try destination(path)
        guard try isFree(bare) else { throw .destinationExists(path: bare) }
        let summary = try BackupContent.verify(file)
        let draft = bare + ".restoring"
        try makeFolder(draft)
        do throws(BackupError) {
            let restore: ArchiveRestore
            do throws(LogError) {
                restore = try ArchiveRestore(to: FileLogStorage(path: draft), summary.info)
            } catch {
                throw .log(error)
            }
            do throws(BackupError) {
                guard try copy(file, into: restore) == summary else {
                    throw .content(path: file, reason: "has changed while it was read")
                }
            } catch {
                do throws(LogError) { try restore.abandon() } catch { throw .log(error) }
                throw error
            }
            do throws(LogError) {
                try restore.finish(readBackBy: StateChecker().take)
            } catch {
                throw .log(error)
            }
        } catch {
            // Stays when something is in it: the next restore takes it away.
            rmdir(draft)
            throw error
        }
        guard rename(draft, bare) == 0 else {
            throw .file(.system(call: "rename", path: draft, code: errno))
        }
        do throws(FileError) { try SmallFile.syncFolder(of: bare) } catch { throw .file(error) }
        return summary
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

    /// Makes a new folder, in place of what a restore that was cut short left there.
    ///
    /// Throws: `strangeDraft` for what was left by somebody else; `log`, case `inUse`, beside a restore under way.
    private static func makeFolder(_ path: String) throws(BackupError) {
        var status = stat()
        if lstat(path, &status) == 0 {
            // What others may write to could lead anywhere.
            guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
                status.st_mode & (S_IWGRP | S_IWOTH) == 0
            else { throw .strangeDraft(path: path) }
            do throws(LogError) {
                try ArchiveRestore.removeLeftovers(FileLogStorage(path: path))
            } catch {
                throw .log(error)
            }
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

    private static func copy(
        _ file: String,
        into restore: ArchiveRestore
    ) throws(BackupError) -> BackupSummary {
        try BackupFile.read(file) { event throws(BackupError) in
            guard case .chunk(let chunk) = event else { return }
            do throws(LogError) { try restore.write(chunk) } catch { throw .log(error) }
        }
    }

    /// Whether nothing is at `path`, or an empty folder.
    private static func isFree(_ path: String) throws(BackupError) -> Bool {
        guard FileStamp.of(path) != nil else { return true }
        guard Folder.exists(path) else { return false }
        do throws(FileError) { return try Folder.names(path).isEmpty } catch { throw .file(error) }
    }
}
