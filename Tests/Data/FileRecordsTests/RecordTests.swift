import FileRecords
import FileSamples
import JSONTree
import TestSupport
import Testing

@Suite("records of files")
struct RecordTests {
    @Test("the entity tag is the one that was observed")
    func entityTag() throws {
        var record = try FileRecord.sample()
        #expect(record.entityTag == "CNGTm8DplpcDEAE=")
        record.setPublic(true, now: .later)
        #expect(record.entityTag == "CNGTm8DplpcDEAI=")
    }

    @Test("the CRC-32C is base64 of its bytes, the highest first")
    func checksum() throws {
        #expect(FileContent.text(crc32c: 2_591_144_780) == "mnG7TA==")
        #expect(FileContent.crc32c(of: "mnG7TA==") == 2_591_144_780)
        #expect(FileContent.crc32c(of: "2591144780") == nil)
        #expect(FileContent.crc32c(of: "mnG7") == nil)
    }

    @Test("generations grow, also when the clock does not")
    func generations() {
        let now = Timestamp(milliseconds: 1_790_789_164_648)
        #expect(FileRecord.nextGeneration(after: 0, now: now) == 1_790_789_164_648_000)
        #expect(
            FileRecord.nextGeneration(after: 1_790_789_164_648_000, now: now)
                == 1_790_789_164_648_001
        )
        let back = Timestamp(milliseconds: 5)
        #expect(FileRecord.nextGeneration(after: 9_000, now: back) == 9_001)
    }

    @Test(
        "times of RFC 3339 are read",
        arguments: [
            ("2026-09-30T17:26:04.648Z", 1_790_789_164_648),
            ("2026-09-30T19:26:04.648+02:00", 1_790_789_164_648),
            ("2026-09-30T17:26:04Z", 1_790_789_164_000),
            ("2026-09-30t17:26:04.6489z", 1_790_789_164_648),
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2026-09-30", nil), ("2026-09-31T00:00:00Z", nil), ("1900-02-29T00:00:00Z", nil),
            ("2026-09-30T24:00:00Z", nil), ("2026-09-30T17:26:04", nil),
            ("2026-09-30T17:26:04Zx", nil), ("", nil),
            ("2026-09-30T17:26:04.Z", nil),
        ] as [(String, Int64?)]
    )
    func times(text: String, milliseconds: Int64?) {
        #expect(FileTime.timestamp(rfc3339: text)?.milliseconds == milliseconds)
    }

    @Test("every day of four centuries is read back")
    func days() {
        for day in 0..<146_097 {
            let time = Int64(day) * 86_400_000 + 86_399_999
            #expect(FileTime.timestamp(rfc3339: ISO8601.text(of: time))?.milliseconds == time)
        }
    }

    @Test("random records are read back as they were, and have one text")
    func roundTrip() throws {
        var random = TestSeed.generator(71)
        for round in 0..<500 {
            let record = try Self.random(&random)
            let text = record.json
            #expect(try FileRecord(json: text) == record, "seed \(TestSeed.first), round \(round)")
            #expect(try FileRecord(json: text).json == text)
        }
    }

    @Test("no cut and no changed byte of a record is read as another record")
    func damage() throws {
        var random = TestSeed.generator(72)
        let record = try Self.random(&random)
        let text = record.json
        for end in text.indices {
            #expect(throws: RecordDamage.self) { try FileRecord(json: Array(text[..<end])) }
        }
        var refusedCount = 0
        for index in text.indices {
            var changed = text
            changed[index] ^= UInt8(1 + random.index(255))
            do throws(RecordDamage) {
                // What is read has a text of its own: nothing was passed over.
                let read = try FileRecord(json: changed)
                #expect(try FileRecord(json: read.json) == read)
            } catch {
                refusedCount += 1
                #expect(!error.description.isEmpty)
            }
        }
        #expect(refusedCount > text.count / 4)
    }

    @Test(
        "what this version would not have written is refused in words",
        arguments: [
            (#"{"v":2}"#, "form 2 is none that this version reads"), (#"{}"#, "form 0 is none"),
            ("{", "must be JSON; byte 1 is not"), ("[]", "must be a JSON object"),
            (#"{"v":1,"color":"red"}"#, "'color' is no member"),
            (#"{"v":1,"v":1}"#, "'v' is there twice"),
            (#"{"v":1,"bucket":"x"}"#, "A bucket name must have 3 to 63"),
            (#"{"v":1,"bucket":"abc","name":""}"#, "An object name must not be empty"),
            (#"{"v":1,"bucket":"abc","name":"a","blob":"A"}"#, "'blob' must be 64"),
            ("BLOB", "'size' must be a whole number"),
            (#"BLOB,"size":-1"#, "'size' must be a whole number"),
            (#"BLOB,"size":1,"md5":"xx""#, "'md5' must be base64 of 16 bytes"),
            (#"BLOB,"size":1"#, "'crc32c' must be"),
            (#"BLOB,"size":1,"crc32c":"mnG7TA==""#, "'generation' must be a whole number above 0"),
            (
                #"BLOB,"size":1,"crc32c":"mnG7TA==","generation":0"#,
                "'generation' must be a whole number above 0"
            ),
            (
                #"BLOB,"size":1,"crc32c":"mnG7TA==","generation":5,"metageneration":1"#,
                "'created' must be"
            ),
            (#"ALL,"fields":{"color":"red"}"#, "'color' is no field"),
            (#"ALL,"fields":{"contentType":5}"#, "'contentType' must be a text"),
            (#"ALL,"custom":{"k":5}"#, "'custom' must have texts"),
            (#"ALL,"tokens":["a b"]"#, "'tokens' must have download tokens"),
            (#"ALL,"tokens":5"#, "'tokens' must be an array"),
            (#"ALL,"public":1"#, "'public' must be true or false"),
            (#"ALL,"fields":{"contentType":"a\nb"}"#, "must not have control characters"),
        ]
    )
    func words(text: String, words: String) {
        let blob =
            #"{"v":1,"bucket":"abc","name":"a","blob":"\#(String(repeating: "a", count: 64))""#
        let all =
            blob
            + #","size":1,"crc32c":"mnG7TA==","generation":5,"metageneration":1,"created":1,"updated":1"#
        var json = text.replacing("BLOB", with: blob).replacing("ALL", with: all)
        if json != text { json += "}" }
        do throws(RecordDamage) {
            _ = try FileRecord(json: Array(json.utf8))
            Issue.record("\(json) was read")
        } catch {
            #expect(error.description.contains(words), "\(error)")
        }
    }

    static func random(_ random: inout SeededGenerator) throws -> FileRecord {
        let texts = ["a", "é", "e\u{301}", "x/y", "\"\\", "😀", "a b", "no-cache, max-age=5"]
        var fields = FileFields()
        for field in FileField.allCases where random.index(2) == 0 {
            fields[field] = texts[random.index(texts.count)]
        }
        for _ in 0..<random.index(4) {
            fields.setCustom(
                texts[random.index(texts.count)],
                texts[random.index(texts.count)] + "\n"
            )
        }
        if random.index(3) == 0 { fields.customTime = "2026-01-01T00:00:00Z" }
        let content = FileContent(
            blob: String((0..<64).map { _ in Array("0123456789abcdef")[random.index(16)] }),
            byteCount: Int64(random.index(1 << 40)),
            md5: random.index(3) == 0 ? nil : (0..<16).map { _ in UInt8(random.index(256)) },
            crc32c: UInt32(random.index(1 << 32)),
            componentCount: random.index(4) == 0 ? 1 + random.index(32) : nil
        )
        var record = FileRecord(
            bucket: try BucketName("bucket-\(random.index(3))"),
            name: try ObjectName(texts[random.index(texts.count)] + "\(random.index(1000))"),
            content: content,
            generation: Int64(1 + random.index(1 << 50)),
            now: Timestamp(milliseconds: Int64(random.index(1 << 41))),
            fields: fields,
            tokens: (0..<random.index(3)).map { "token-\($0)" },
            uid: random.index(2) == 0 ? "user-\(random.index(3))" : nil
        )
        if random.index(3) == 0 { record.setPublic(true, now: .later) }
        return record
    }
}

@Suite("changes of files")
struct ChangeTests {
    @Test("references and usage after random changes are those of the records")
    func twin() throws {
        var random = TestSeed.generator(73)
        var records: [String: FileRecord] = [:]
        var references: [String: Int] = [:]
        var usage: [UsageChange.Owner: FileUsage] = [:]
        var sharedCount = 0
        for _ in 0..<2_000 {
            var changes: [FileChange] = []
            for _ in 0...random.index(3) {
                let key = "\(random.index(12))"
                let old = records[key]
                let new: FileRecord? =
                    try random.index(3) == 0
                    ? nil
                    : .sample(
                        "n\(key)",
                        bucket: "bucket-\(key.count)",
                        blob: Array("abcd")[random.index(4)],
                        byteCount: 5,
                        uid: [nil, "u", "w"][random.index(3)]
                    )
                records[key] = new
                changes.append(FileChange(old: old, new: new))
            }
            for change in FileChange.references(of: changes) {
                #expect(change.difference != 0)
                let count: Int = try #require(change.count(after: references[change.blob] ?? 0))
                references[change.blob] = count
            }
            for change in FileChange.usage(of: changes) {
                usage[change.owner] = (usage[change.owner] ?? FileUsage()) + change.difference
            }
            var wanted: [String: Int] = [:]
            var wantedUsage: [UsageChange.Owner: FileUsage] = [:]
            for record in records.values {
                wanted[record.content.blob, default: 0] += 1
                for owner in [.bucket(record.bucket)] + (record.uid.map { [.user($0)] } ?? [])
                    as [UsageChange.Owner]
                {
                    wantedUsage[owner] =
                        (wantedUsage[owner] ?? FileUsage())
                        + FileUsage(objectCount: 1, byteCount: 5)
                }
            }
            sharedCount += wanted.values.contains { $0 > 2 } ? 1 : 0
            #expect(references.filter { $0.value != 0 } == wanted, "seed \(TestSeed.first)")
            #expect(
                usage.filter { $0.value != FileUsage() } == wantedUsage,
                "seed \(TestSeed.first)"
            )
        }
        #expect(sharedCount > 100)
    }

    @Test("a change of metadata changes no reference and no usage")
    func metadata() throws {
        let old = try FileRecord.sample(uid: "u")
        var new = old
        new.setPublic(true, now: .later)
        #expect(FileChange.references(of: [FileChange(old: old, new: new)]).isEmpty)
        #expect(FileChange.usage(of: [FileChange(old: old, new: new)]).isEmpty)
    }

    @Test("changes come in one order")
    func order() throws {
        let changes = try ["c", "a", "b"].map { blob in
            FileChange(old: nil, new: try .sample(blob: Character(blob), uid: "u\(blob)"))
        }
        #expect(FileChange.references(of: changes).map(\.blob.first) == ["a", "b", "c"])
        #expect(
            FileChange.usage(of: changes).map(\.owner)
                == [
                    .bucket(try BucketName("demo.appspot.com")), .user("ua"), .user("ub"),
                    .user("uc"),
                ]
        )
    }

    @Test("a count that would go below 0 is none")
    func underflow() {
        let change = ReferenceChange(blob: "a", byteCount: 1, difference: -2)
        #expect(change.count(after: 1) == nil && change.count(after: 2) == 0)
    }

    /// Generation 5 and metageneration 2, or no object.
    @Test(
        "preconditions hold as their rows say",
        arguments: [
            ("", true, nil), ("", false, nil), ("ifGenerationMatch=5", true, nil),
            ("ifGenerationMatch=4", true, "ifGenerationMatch"),
            ("ifGenerationMatch=0", true, "ifGenerationMatch"),
            ("ifGenerationMatch=0", false, nil),
            ("ifGenerationMatch=5", false, "ifGenerationMatch"),
            ("ifGenerationNotMatch=5", true, "ifGenerationNotMatch"),
            ("ifGenerationNotMatch=4", true, nil),
            ("ifGenerationNotMatch=0", false, "ifGenerationNotMatch"),
            ("ifGenerationNotMatch=0", true, nil),
            ("ifMetagenerationMatch=2", true, nil),
            ("ifMetagenerationMatch=1", true, "ifMetagenerationMatch"),
            ("ifMetagenerationMatch=2", false, "ifMetagenerationMatch"),
            ("ifMetagenerationNotMatch=2", true, "ifMetagenerationNotMatch"),
            ("ifMetagenerationNotMatch=2", false, nil),
            ("generation=4 ifGenerationMatch=0", true, nil),
            ("generation=5 ifMetagenerationMatch=2", true, nil),
            ("ifGenerationMatch=5 ifMetagenerationMatch=3", true, "ifMetagenerationMatch"),
        ] as [(String, Bool, String?)]
    )
    func preconditions(text: String, exists: Bool, fault: String?) throws {
        var conditions = Preconditions()
        for part in text.split(separator: " ") {
            let sides = part.split(separator: "=")
            let number = Int64(sides[1])
            switch sides[0] {
            case "ifGenerationMatch": conditions.ifGenerationMatch = number
            case "ifGenerationNotMatch": conditions.ifGenerationNotMatch = number
            case "ifMetagenerationMatch": conditions.ifMetagenerationMatch = number
            case "ifMetagenerationNotMatch": conditions.ifMetagenerationNotMatch = number
            default: conditions.generation = number
            }
        }
        let sample = try FileRecord.sample()
        var record = FileRecord(
            bucket: sample.bucket,
            name: sample.name,
            content: sample.content,
            generation: 5,
            now: sample.created
        )
        record.setPublic(true, now: .later)
        let outcome = conditions.check(exists ? record : nil)
        #expect(outcome == fault.map { .failed($0) } ?? .met)
        #expect(outcome.isNotModified == (fault?.hasSuffix("NotMatch") ?? false))
    }
}
