import Files
import Glibc
import JSONTree
import TestSupport
import Testing

@testable import DatabaseServer

private func entry(_ what: String, path: String? = nil) -> AuditEntry {
    AuditEntry(
        time: Timestamp(milliseconds: 1_767_225_600_000),
        author: AuditAuthor(name: "u1", credential: .account, role: .admin),
        peer: "203.0.113.7",
        door: "console",
        request: "PUT /.settings/rules.json",
        deed: AuditDeed(what: what, database: "default", path: path, details: ["version": "7"])
    )
}

private func numbers(_ page: AuditPage) throws -> [Int64] {
    try page.lines.map { try #require(try Node(json: $0).member("number").integer) }
}

private func query(_ parameters: [(name: String, value: String)]) throws -> AuditQuery {
    try AuditQuery(parameters)
}

@Suite("the audit log")
struct AuditTests {
    @Test("writes an entry as one line")
    func line() {
        let text = String(decoding: entry("the rules\nare replaced").line(number: 7), as: UTF8.self)
        #expect(
            text
                == #"{"number":7,"time":1767225600000,"what":"the rules\nare replaced","by":"u1","with":"account","role":"admin","from":"203.0.113.7","door":"console","request":"PUT /.settings/rules.json","database":"default","details":{"version":"7"}}"#
                + "\n"
        )
    }

    @Test("cuts long texts, so that no line is longer than a line may be")
    func cut() {
        let long = String(repeating: "\u{1}ü", count: 10_000)
        var all = entry(long, path: long)
        var deed = all.deed
        for index in 0..<100 { deed.details["\(index)\(long.prefix(9))"] = long }
        deed.database = long
        all = AuditEntry(
            time: all.time,
            author: AuditAuthor(name: long, credential: .token),
            peer: long,
            door: long,
            request: long,
            deed: deed
        )
        let line = all.line(number: .max)
        #expect(line.count <= AuditEntry.byteLimit)
        #expect(AuditContent(bytes: line).entries.count == 1)
        #expect(String(decoding: line, as: UTF8.self).contains("…"))
    }

    /// A folder of small files, filled with lines numbered from 1, one at a time.
    private func filled(_ data: TemporaryFolder, _ count: Int) throws -> AuditFolder {
        let folder = try AuditFolder(inDataFolder: data.path, fileByteCount: 1_000, fileLimit: 3)
        for number in folder.lastNumber + 1...folder.lastNumber + count {
            try folder.append([(number, entry("deed \(number)").line(number: number))])
        }
        return folder
    }

    @Test("begins another file when one is full, and keeps the newest files only")
    func rotation() throws {
        let data = try TemporaryFolder()
        let folder = try filled(data, 50)
        let files = try AuditFolder.files(folder.path)
        #expect(files.count == 3)
        let page = try AuditPage(query([("limit", "1000")]), folder: folder.path)
        let shown = try numbers(page)
        #expect(shown == Array((Int64(files[0].first)...50).reversed()))
        #expect(shown.count < 50)
        for file in files {
            var status = stat()
            #expect(stat("\(folder.path)/\(file.name)", &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            #expect(status.st_size < 1_000 + 400)
        }
        var status = stat()
        #expect(stat(folder.path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o700)
    }

    @Test("goes on with its numbers when it is opened again")
    func reopened() throws {
        let data = try TemporaryFolder()
        _ = try filled(data, 3)
        let folder = try filled(data, 2)
        #expect(folder.lastNumber == 5)
        #expect(folder.tornFile == nil)
        let page = try AuditPage(query([]), folder: folder.path)
        #expect(try numbers(page) == [5, 4, 3, 2, 1])
    }

    @Test("takes a torn line for none, says which file has it, and goes on behind it")
    func torn() throws {
        let data = try TemporaryFolder()
        let path = try filled(data, 2).path
        let file = "\(path)/\(try #require(try AuditFolder.files(path).last).name)"
        for cut in [1, 40, 200] {
            let bytes = try SmallFile.read(file, byteLimit: 1 << 20).bytes
            #expect(truncate(file, off_t(bytes.count - cut)) == 0)
            let torn = try AuditPage(query([]), folder: path)
            #expect(torn.isTorn)
            let folder = try AuditFolder(
                inDataFolder: data.path,
                fileByteCount: 1 << 20,
                fileLimit: 3
            )
            #expect(folder.tornFile == file)
            let number = folder.lastNumber + 1
            try folder.append([(number, entry("after").line(number: number))])
            let page = try AuditPage(query([]), folder: path)
            #expect(!page.isTorn)
            #expect(try numbers(page).first == Int64(number))
            #expect(try numbers(page) == numbers(page).sorted(by: >))
        }
        let page = try AuditPage(query([]), folder: path)
        #expect(page.unreadableCount > 0)
    }

    @Test("keeps what cannot be written, up to a limit, and writes it later")
    func full() throws {
        let data = try TemporaryFolder()
        let folder = try AuditFolder(inDataFolder: data.path)
        #expect(rename(folder.path, "\(data.path)/away") == 0)
        for number in 1...AuditFolder.waitingLimit + 5 {
            #expect(throws: FileError.self) {
                try folder.append([(number, entry("deed").line(number: number))])
            }
        }
        #expect(rename("\(data.path)/away", folder.path) == 0)
        try folder.append([])
        let page = try AuditPage(query([("limit", "1000")]), folder: folder.path)
        #expect(try numbers(page).count == AuditFolder.waitingLimit)
        #expect(try numbers(page).first == Int64(AuditFolder.waitingLimit + 5))
    }

    @Test(
        "is read from either side of a number, and by text",
        arguments: [
            ([("limit", "3")], [50, 49, 48], true),
            ([("limit", "2"), ("before", "49")], [48, 47], true),
            ([("limit", "2"), ("after", "46")], [48, 47], true),
            ([("limit", "9"), ("after", "47")], [50, 49, 48], false),
            ([("after", "50")], [], false),
            ([("text", "DEED 45")], [45], false), ([("text", "no such")], [], false),
            ([("before", "1")], [], false), ([("by", "u1"), ("limit", "1")], [50], true),
            ([("by", "u")], [], false), ([("door", "console"), ("after", "49")], [50], false),
            ([("door", "request")], [], false),
            ([("by", ""), ("door", ""), ("after", "49")], [50], false),
        ] as [([(String, String)], [Int64], Bool)]
    )
    func pages(parameters: [(String, String)], expected: [Int64], hasMore: Bool) throws {
        let data = try TemporaryFolder()
        let folder = try filled(data, 50)
        let asked = try query(parameters.map { (name: $0.0, value: $0.1) })
        let page = try AuditPage(asked, folder: folder.path)
        #expect(try numbers(page) == expected)
        #expect(page.hasMore == hasMore)
    }

    @Test(
        "is not read with parameters that make no sense",
        arguments: ["limit=0", "limit=1001", "limit=x", "before=-1", "after=x"]
    )
    func badQuery(text: String) {
        let parts = text.split(separator: "=").map(String.init)
        #expect(throws: BadRequest.self) { try query([(parts[0], parts[1])]) }
    }

    @Test("has every change of an administrator: only questions are left out")
    func rows() {
        let left = RouteTable.shared.all.filter { row in
            row.isForAdmins && row.changes == .never
                && row.methods.all.contains { $0 != .get && $0 != .head }
        }
        #expect(
            left.map(\.pattern).sorted() == [
                "/.inspect/backup_check.json", "/.settings/rules_check.json", "/.simulate",
                "identity:adminLookup", "identity:batchGet", "identity:query",
            ]
        )
    }
}
