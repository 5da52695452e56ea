/// The files of a data folder: what each of their readers and writers needs.
struct LogFolder {
    let storage: any LogStorage
    /// The number made with the folder, which seeds the checksums of its files.
    let id: UInt64
    /// Bytes of one read from the disk.
    var readByteCount = LogOptions().readByteCount

    /// Finds a folder by its FORMAT file or, where that is damaged or gone, by its segments.
    ///
    /// Returns the fault of the FORMAT file too. Throws: `notADataFolder`; `damage` when no file says the
    /// id; `unknownFormat`; `disk`.
    static func find(
        _ storage: any LogStorage,
        readByteCount: Int = LogOptions().readByteCount
    ) throws(LogError) -> (folder: LogFolder, damage: LogDamage?) {
        let damage: LogDamage
        do throws(LogError) {
            if let id = try DataFolder.readFormat(storage) {
                return (LogFolder(storage: storage, id: id, readByteCount: readByteCount), nil)
            }
            damage = LogDamage(file: FolderLayout.format, offset: 0, fault: .missing)
        } catch .damage(let found) {
            damage = found
        }
        let segments = try FolderLayout.segments(in: storage)
        for first in segments {
            let path = FolderLayout.segment(first)
            guard let file = try storage.open(path) else { continue }
            let window = try WindowReader(file, chunk: SegmentHeader.byteCount)
            defer { window.close() }
            let bytes = try window.bytes(at: 0, count: SegmentHeader.byteCount)
            if let id = try SegmentHeader.read(bytes, file: path)?.folderID {
                return (LogFolder(storage: storage, id: id, readByteCount: readByteCount), damage)
            }
        }
        guard segments.isEmpty, damage.fault == .missing else { throw .damage(damage) }
        throw .notADataFolder(path: storage.path)
    }

    /// Whether another holder has the folder at this moment.
    func isInUse() throws(LogError) -> Bool {
        do throws(LogError) {
            try storage.lock(.read).release()
            return false
        } catch .inUse {
            return true
        }
    }
}
