import FileRecords
import Transport

/// Addresses of files: those of the SDKs of clients, of the libraries of servers, and plain ones.
extension RouteTable {
    static let files: [Route] =
        [
            row("/v0", .only(.get, .head), for: .everybody),
            row("/v0/b/{bucket}/o/{object...}", everyMethod, for: .rules),
            row("/storage/v1/b/{address...}", everyMethod, for: .administrators),
            row(
                "/download/storage/v1/b/{bucket}/o/{object...}",
                .only(.get, .head),
                for: .administrators
            ),
            // A DELETE ends an upload, and changes no file.
            row("/upload/storage/v1/b/{bucket}/o", .mainly(.put, .post), for: .administrators),
            row("/batch/storage/v1", .only(.post), for: .administrators),
        ] + libraries + emulator + [plainFile]

    /// `/BUCKET/OBJECT`: signed, public, or an administrator's.
    static let plainFile = row("/{bucket}/{object...}", everyMethod, for: .everybody)

    /// What libraries of servers ask an emulator for.
    private static let libraries = [
        row("/b", .only(.get, .head, .post), for: .development),
        row("/b/{bucket}", everyMethod, for: .development),
        row("/b/{bucket}/o/{object...}", everyMethod, for: .development),
    ]

    private static let emulator = [
        row("/internal/setRules", .only(.put), for: .development) { $0.answerSetRules($1) },
        row("/internal/reset", .only(.post), for: .development) { $0.answerReset($1) },
    ]

    private static let everyMethod = Route.Methods.only(.get, .head, .put, .post, .patch, .delete)

    private static let firstSegments = Dictionary(
        grouping: files.filter { $0.firstSegment != nil },
        by: { $0.firstSegment ?? "" }
    )

    /// The row of an address that is of files whatever its name ends in; nil for others, and for what may be a location in
    /// a tree: `/b/x.json`.
    static func file(_ segments: [String], isData: Bool) -> Route? {
        guard let rows = firstSegments[segments.first ?? ""] else { return nil }
        // An upload of JSON to a location below `/b`.
        if segments.first == "b", segments.last == ".upload" { return nil }
        if isData, segments.count < 5, segments.first != "b" || segments.count < 4 { return nil }
        return rows.first { $0.location(of: segments) != nil }
    }

    /// Whether an address may be a plain one. It has a name, and its bucket could be one.
    static func isPlainFile(_ segments: [String]) -> Bool {
        guard segments.count > 1, let bucket = segments.first else { return false }
        do throws(NameFault) {
            _ = try BucketName(bucket)
            return true
        } catch {
            return false
        }
    }

    private static func row(
        _ pattern: String,
        _ methods: Route.Methods,
        for audience: Route.Audience,
        _ answer: @escaping @Sendable @LoopActor (FileService, HTTPExchange) -> Void = {
            $0.receive($1)
        }
    ) -> Route {
        Route(
            pattern,
            methods,
            for: audience,
            of: .files,
            body: .file,
            .answer { answer($0.fileService, $1) }
        )
    }
}
