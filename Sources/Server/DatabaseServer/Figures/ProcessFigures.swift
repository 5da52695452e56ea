import Glibc

/// What the system says of this process and its disk. Reading it takes files and a folder, so a worker does it.
struct ProcessFigures: Sendable {
    var residentByteCount = 0
    var virtualByteCount = 0
    /// Of all threads, user and system together.
    var cpuSeconds = 0.0
    var openDescriptorCount = 0
    var descriptorLimit = 0
    /// nil when nothing is kept on disk, or the disk does not say.
    var disk: Disk?

    /// The disk of the data folder, and the log on it.
    struct Disk: Sendable {
        var freeByteCount = 0
        var totalByteCount = 0
        var segmentCount = 0
        /// Bytes of the segments of the log.
        var logByteCount = 0
    }

    /// Asks the system; `dataFolder` is nil when nothing is kept on disk.
    static func read(dataFolder: String?) -> ProcessFigures {
        var figures = ProcessFigures()
        figures.readMemory()
        figures.readUsage()
        figures.readDescriptors()
        figures.disk = dataFolder.flatMap { Disk(folder: $0) }
        return figures
    }

    /// `statm` counts pages: all of them, then those in memory.
    private mutating func readMemory() {
        guard let file = fopen("/proc/self/statm", "re") else { return }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else { return }
        let bytes = line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        let text = String(decoding: bytes, as: UTF8.self)
        let pages = text.split(separator: " ").compactMap { Int($0) }
        guard pages.count >= 2 else { return }
        let pageByteCount = sysconf(Int32(_SC_PAGESIZE))
        virtualByteCount = pages[0] * pageByteCount
        residentByteCount = pages[1] * pageByteCount
    }

    private mutating func readUsage() {
        var usage = rusage()
        guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return }
        cpuSeconds = [usage.ru_utime, usage.ru_stime].reduce(0) {
            $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
        }
    }

    private mutating func readDescriptors() {
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            descriptorLimit = Int(clamping: limit.rlim_cur)
        }
        // The folder's own descriptor is among them.
        openDescriptorCount = max(0, Self.names(in: "/proc/self/fd").count - 1)
    }

    /// The names in a folder but `.` and `..`; none when it cannot be read.
    fileprivate static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

extension ProcessFigures.Disk {
    fileprivate init?(folder: String) {
        var disk = statvfs()
        guard statvfs(folder, &disk) == 0 else { return nil }
        freeByteCount = Int(clamping: UInt64(disk.f_bavail) * UInt64(disk.f_frsize))
        totalByteCount = Int(clamping: UInt64(disk.f_blocks) * UInt64(disk.f_frsize))
        for name in ProcessFigures.names(in: "\(folder)/log") where name.hasSuffix(".log") {
            var file = stat()
            guard stat("\(folder)/log/\(name)", &file) == 0 else { continue }
            segmentCount += 1
            logByteCount += Int(file.st_size)
        }
    }
}
