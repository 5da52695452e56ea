import FileRecords

/// The settings of the file service.
struct FileSettings: Equatable, Sendable {
    /// The rules of every bucket that has none of its own.
    var rulesFile: String?
    /// The buckets that exist from the start; in production the only ones.
    var buckets: [Bucket] = []
    /// Bytes of an object that a client stores.
    var clientByteLimit = 256 << 20
    /// Bytes of an object that an administrator stores.
    var byteLimit = 5 << 30

    /// One `--files-bucket NAME[=RULES]`.
    struct Bucket: Equatable, Sendable {
        var name: BucketName
        /// Stands before `FileSettings.rulesFile` for this bucket.
        var rulesFile: String?
    }

    /// Bytes of the body of a request: an object, with its metadata beside it.
    var bodyByteLimit: Int { max(byteLimit, clientByteLimit) + (1 << 20) }

    /// The rules file of a bucket; nil without one.
    func rulesFile(of bucket: BucketName) -> String? {
        buckets.first { $0.name == bucket }?.rulesFile ?? rulesFile
    }
}

extension Configuration {
    /// Reads which buckets there are, their rules, and how large their objects may be.
    mutating func readFiles(_ reader: inout SettingReader) {
        files.rulesFile = reader.text(.filesRules)
        files.buckets = reader.list(.filesBucket, "Write NAME or NAME=RULES-FILE.") {
            text -> FileSettings.Bucket? in
            let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let rules = sides.count > 1 ? String(sides[1]) : nil
            guard rules != "" else { return nil }
            do throws(NameFault) {
                let name = try BucketName(String(sides.first ?? ""))
                return FileSettings.Bucket(name: name, rulesFile: rules)
            } catch {
                return nil
            }
        }
        let names = files.buckets.map(\.name)
        for name in Set(names).sorted() where names.count(where: { $0 == name }) > 1 {
            let text = "names '\(name.text)' more than once"
            reader.fault(.filesBucket, text, "Name each bucket once.")
        }
        if mode == .production, files.rulesFile != nil, files.buckets.isEmpty {
            warnings.append(
                "--files-rules has no effect: there is no bucket for files; add --files-bucket NAME"
            )
        }
        let range = 1024...(5 << 40)
        files.clientByteLimit =
            reader.byteCount(.filesClientLimit, in: range) ?? files.clientByteLimit
        files.byteLimit = reader.byteCount(.filesLimit, in: range) ?? files.byteLimit
    }
}
