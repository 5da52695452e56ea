import FileRecords
import ObjectStorage

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
    /// How much buckets may hold.
    var quotas: [Quota] = []
    /// Where the bytes of files are kept; nil for the data folder.
    var s3: S3?

    /// One `--files-bucket NAME[=RULES]`.
    struct Bucket: Equatable, Sendable {
        var name: BucketName
        /// Stands before `FileSettings.rulesFile` for this bucket.
        var rulesFile: String?
    }

    /// One `--files-quota SIZE` or `BUCKET=SIZE`.
    struct Quota: Equatable, Sendable {
        /// nil for each bucket that has none of its own.
        var bucket: BucketName?
        var byteLimit: Int
    }

    /// A bucket of an S3 store.
    struct S3: Equatable, Sendable {
        var address: BucketAddress
        var region = "us-east-1"
        /// Two lines: the access key and its secret.
        var keyFile: String
        /// Authorities that the store's certificate is checked against; nil for those of the system.
        var caFile: String?
    }

    /// Bytes of the body of a request: an object, with its metadata beside it.
    var bodyByteLimit: Int { max(byteLimit, clientByteLimit) + (1 << 20) }

    /// Bytes that all objects of a bucket may have; nil without a limit.
    func quota(of bucket: BucketName) -> Int64? {
        let own = quotas.first { $0.bucket == bucket } ?? quotas.first { $0.bucket == nil }
        return own.map { Int64($0.byteLimit) }
    }

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
        files.quotas = Self.readQuotas(&reader)
        files.s3 = Self.readS3(&reader)
    }

    private static func readQuotas(_ reader: inout SettingReader) -> [FileSettings.Quota] {
        let advice = "Write SIZE or BUCKET=SIZE, such as 10GiB or photos=500MiB."
        let quotas = reader.list(.filesQuota, advice) { text -> FileSettings.Quota? in
            let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let size = SettingReader.byteCount(of: String(sides.last ?? "")) else {
                return nil
            }
            do throws(NameFault) {
                let bucket = sides.count > 1 ? try BucketName(String(sides[0])) : nil
                return FileSettings.Quota(bucket: bucket, byteLimit: size)
            } catch {
                return nil
            }
        }
        for (index, quota) in quotas.enumerated()
        where quotas[..<index].contains(where: { $0.bucket == quota.bucket }) {
            let text =
                "limits \(quota.bucket.map { "'\($0.text)'" } ?? "each bucket") more than once"
            reader.fault(.filesQuota, text, "Give each one limit.")
        }
        return quotas
    }

    private static func readS3(_ reader: inout SettingReader) -> FileSettings.S3? {
        let (bucket, region) = (reader.text(.filesS3Bucket), reader.text(.filesS3Region))
        let (keyFile, caFile) = (reader.text(.filesS3KeyFile), reader.text(.filesS3CAFile))
        guard let endpoint = reader.text(.filesS3) else {
            for setting in [Setting.filesS3Bucket, .filesS3Region, .filesS3KeyFile, .filesS3CAFile]
            where reader.isSet(setting) {
                reader.fault(setting, "has no store", "Name one with --files-s3 URL.")
            }
            return nil
        }
        guard let bucket else {
            reader.fault(.filesS3, "has no bucket", "Name one with --files-s3-bucket NAME.")
            return nil
        }
        guard let keyFile else {
            let advice = "Name a file with the access key and its secret with --files-s3-key-file."
            reader.fault(.filesS3, "has no key", advice)
            return nil
        }
        do throws(ObjectStoreSettingError) {
            let address = try BucketAddress(endpoint: endpoint, bucket: bucket)
            var s3 = FileSettings.S3(address: address, keyFile: keyFile, caFile: caFile)
            if let region { s3.region = region }
            return s3
        } catch {
            reader.fault(
                .filesS3,
                "cannot be used: \(error)",
                "Write https://HOST, or http://HOST."
            )
            return nil
        }
    }
}
