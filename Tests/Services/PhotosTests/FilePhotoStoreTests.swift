import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Photos

@Suite("FilePhotoStore")
struct FilePhotoStoreTests {
    private let place: TemporaryFolder
    private let folder: String

    init() throws {
        place = try TemporaryFolder()
        folder = place.path + "/photos"
    }

    private func photo(_ shade: Int) throws -> Photo {
        try Photo(png: TestPNG(width: 20, height: 20) { x, _, _ in (x + shade) % 256 }.bytes)
    }

    /// What is in the folder, sorted.
    private func names() -> [String] {
        var names: [String] = []
        guard let entries = opendir(folder) else { return [] }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    @Test("what is stored is loaded, also by another store, until it is deleted")
    func lifetime() async throws {
        let store = try FilePhotoStore(folder: folder)
        let photo = try photo(1)
        try await store.store(photo, forKey: "-Nabc_1")
        try await store.store(photo, forKey: "-Nabc_1")
        #expect(try await FilePhotoStore(folder: folder).load(forKey: "-Nabc_1") == photo)
        #expect(names() == ["-Nabc_1.png"])
        var status = stat()
        #expect(stat(folder + "/-Nabc_1.png", &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
        try await store.delete(forKey: "-Nabc_1")
        try await store.delete(forKey: "-Nabc_1")
        await #expect(throws: PhotoStoreError.notFound("-Nabc_1")) {
            try await store.load(forKey: "-Nabc_1")
        }
    }

    @Test(
        "what is no key never becomes a path",
        arguments: [
            "", ".", "..", "../x", "a/b", "/etc/passwd", "a.png", "a\0b", "é", "a b", "\n",
            String(repeating: "k", count: 65),
        ]
    )
    func keys(key: String) async throws {
        let store = try FilePhotoStore(folder: folder)
        let photo = try photo(2)
        let fault = PhotoStoreError.invalidKey(key)
        await #expect(throws: fault) { try await store.store(photo, forKey: key) }
        await #expect(throws: fault) { try await store.load(forKey: key) }
        await #expect(throws: fault) { try await store.delete(forKey: key) }
        #expect(names() == [])
    }

    @Test("no more is read than the limit")
    func limits() async throws {
        let store = try FilePhotoStore(folder: folder)
        let photo = try photo(3)
        try await store.store(photo, forKey: "a")
        #expect(try await store.load(forKey: "a", byteLimit: photo.png.count) == photo)
        let limit = photo.png.count - 1
        await #expect(throws: PhotoStoreError.tooLarge(key: "a", byteLimit: limit)) {
            try await store.load(forKey: "a", byteLimit: limit)
        }
        truncate(folder + "/a.png", off_t(PhotoLimits.byteCount + 1))
        await #expect(throws: PhotoStoreError.tooLarge(key: "a", byteLimit: 750_000)) {
            try await store.load(forKey: "a", byteLimit: .max)
        }
        truncate(folder + "/a.png", 20)
        let fault = PhotoError.damaged("its end is missing")
        await #expect(throws: PhotoStoreError.faulty(key: "a", fault)) {
            try await store.load(forKey: "a")
        }
    }

    @Test("links are neither read nor written through, and a folder that is one is refused")
    func links() async throws {
        let store = try FilePhotoStore(folder: folder)
        let photo = try photo(4)
        let secret = try place.file("secret", "words")
        symlink(secret, folder + "/a.png")
        let fault = PhotoStoreError.wrongKind(path: folder + "/a.png")
        await #expect(throws: fault) { try await store.load(forKey: "a") }
        await #expect(throws: fault) { try await store.store(photo, forKey: "a") }
        #expect(names() == ["a.png"])
        mkdir(folder + "/b.png", 0o700)
        await #expect(throws: PhotoStoreError.wrongKind(path: folder + "/b.png")) {
            try await store.store(photo, forKey: "b")
        }
        mkfifo(folder + "/c.png", 0o600)
        await #expect(throws: PhotoStoreError.wrongKind(path: folder + "/c.png")) {
            try await store.load(forKey: "c")
        }
        let link = place.path + "/link"
        symlink(folder, link)
        #expect(throws: PhotoStoreError.wrongKind(path: link)) { try FilePhotoStore(folder: link) }
        #expect(throws: PhotoStoreError.wrongKind(path: secret)) {
            try FilePhotoStore(folder: secret)
        }
        #expect(throws: PhotoStoreError.self) { try FilePhotoStore(folder: secret + "/x/y") }
    }

    @Test("a new store removes the drafts of the dead, and of no one else")
    func leftovers() async throws {
        _ = try FilePhotoStore(folder: folder)
        let draft = folder + "/.a.1.partial"
        let living = open(folder + "/.b.2.partial", O_WRONLY | O_CREAT, 0o600)
        defer { close(living) }
        #expect(flock(living, LOCK_EX | LOCK_NB) == 0)
        close(open(draft, O_WRONLY | O_CREAT, 0o600))
        close(open(folder + "/notes.txt", O_WRONLY | O_CREAT, 0o600))
        symlink("/etc/passwd", folder + "/.c.3.partial")
        _ = try FilePhotoStore(folder: folder)
        #expect(names() == [".b.2.partial", ".c.3.partial", "notes.txt"])
    }

    @Test(
        "where files cannot be locked storing fails and leaves nothing",
        arguments: [ENOLCK, EOPNOTSUPP, ENOSYS, EWOULDBLOCK]
    )
    func unlockable(code: Int32) async throws {
        let store = try FilePhotoStore(folder: folder) { _ in
            errno = code
            return -1
        }
        let photo = try photo(5)
        let error = await #expect(throws: PhotoStoreError.self) {
            try await store.store(photo, forKey: "a")
        }
        guard case .system("lock", let path, code) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(path.hasPrefix(folder + "/.a.") && path.hasSuffix(".partial"))
        #expect(names() == [])
    }

    @Test("a draft that another store takes for a leftover is made again")
    func takenDraft() async throws {
        let rounds = Mutex(0)
        let folder = folder
        let store = try FilePhotoStore(folder: folder) { draft in
            let round = rounds.withLock { rounds in
                rounds += 1
                return rounds
            }
            // Made between the draft and its lock.
            if round <= 2 { _ = Result { try FilePhotoStore(folder: folder) } }
            if round == 3 {
                errno = EWOULDBLOCK
                return -1
            }
            return flock(draft, LOCK_EX | LOCK_NB)
        }
        let photo = try photo(6)
        try await store.store(photo, forKey: "a")
        #expect(try await store.load(forKey: "a") == photo)
        #expect(rounds.withLock { $0 } == 4)
        #expect(names() == ["a.png"])
    }

    @Test("stores that write one key at once leave one of their photos, whole")
    func race() async throws {
        let photos = try (0..<8).map(photo)
        try await withThrowingTaskGroup { group in
            for photo in photos {
                group.addTask { [folder] in
                    let store = try FilePhotoStore(folder: folder)
                    for _ in 0..<10 {
                        try await store.store(photo, forKey: "a")
                        #expect(photos.contains(try await store.load(forKey: "a")))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(names() == ["a.png"])
    }

    @Test("a process killed as it stores leaves the old photo or the new one, and no more")
    func killed() async throws {
        let photos = try [photo(0), photo(1)]
        for round in 1...6 {
            await #expect(processExitsWith: .signal(SIGALRM)) {
                [folder = folder as String, round = round as Int] in
                let store = try FilePhotoStore(folder: folder)
                let photos = try (0..<2).map { shade in
                    try Photo(png: TestPNG(width: 20, height: 20) { x, _, _ in x + shade }.bytes)
                }
                try await store.store(photos[0], forKey: "a")
                // The kernel ends it, in the middle of whatever it does.
                var timer = itimerval()
                timer.it_value.tv_usec = suseconds_t(round * 731)
                setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
                while true {
                    for photo in photos { try await store.store(photo, forKey: "a") }
                }
            }
            let store = try FilePhotoStore(folder: folder)
            #expect(names() == ["a.png"], "round \(round)")
            #expect(photos.contains(try await store.load(forKey: "a")), "round \(round)")
        }
    }

    @Test("on a full disk nothing is stored, and what was there stays")
    func fullDisk() async throws {
        await #expect(processExitsWith: .exitCode(7)) {
            let place = try TemporaryFolder()
            let store = try FilePhotoStore(folder: place.path + "/photos")
            let small = try Photo(png: TestPNG(width: 1, height: 1).bytes)
            let large = try Photo(
                png: TestPNG(width: 300, height: 300) { x, y, c in (x * y * 31 + c) % 251 }.bytes
            )
            try await store.store(small, forKey: "a")
            // The file system's own refusal, without filling one.
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 1000, rlim_max: 1000)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            do {
                try await store.store(large, forKey: "a")
            } catch PhotoStoreError.noSpace {
                guard try await store.load(forKey: "a") == small else { exit(1) }
                guard
                    try await FilePhotoStore(folder: place.path + "/photos").load(forKey: "a")
                        == small
                else { exit(2) }
                exit(7)
            }
        }
    }
}
