import FileProtocol
import FileRecords
import JSONTree
import Transport

/// Objects made of others: no bytes of a client come in.
extension FileService {
    /// A copy refers to the same blob.
    func copy(
        _ copy: FileCopy,
        _ context: FileContext,
        _ body: FileMetadataBody,
        _ then: @escaping @LoopActor (Outcome) -> Void
    ) throws(FileFault) {
        let source = try object(copy.source, copy.sourceConditions, context.dialect)
        let target = copy.destination
        let old = store.record(target)
        guard copy.conditions.check(old) == .met else { throw .conditionNotMet }
        let now = Clock.now()
        let new: FileRecord
        do throws(MetadataFault) {
            new = try source.copied(
                to: target.bucket,
                target.name,
                body,
                generation: store.nextGeneration(now),
                now: now
            )
        } catch {
            throw FileFault(400, error.description)
        }
        var changes = [FileChange(old: old, new: new)]
        if copy.form == .move, target != copy.source {
            changes.append(FileChange(old: source, new: nil))
        }
        try checkQuota(changes)
        commit(
            changes,
            copy.form == .move ? "a file is moved" : "a file is copied",
            target,
            answer: .copied(new, copy.form, base: context.base),
            then
        )
    }

    /// Joins objects of one bucket to another one, on a worker.
    func compose(
        _ target: ObjectAddress,
        _ conditions: Preconditions,
        _ context: FileContext,
        _ body: ComposeBody,
        _ then: @escaping @LoopActor (Outcome) -> Void
    ) throws(FileFault) {
        guard conditions.check(store.record(target)) == .met else { throw .conditionNotMet }
        var sources: [FileRecord] = []
        for source in body.sources {
            let address = ObjectAddress(target.bucket, source.name)
            sources.append(try object(address, source.conditions, context.dialect))
        }
        let sum = sources.reduce(0) { $0 + $1.content.byteCount }
        guard sum <= configuration.files.byteLimit else {
            throw .tooLarge(limit: Int64(configuration.files.byteLimit))
        }
        var (fields, tokens) = (FileFields(), [String]())
        do throws(MetadataFault) {
            try body.destination.apply(to: &fields, &tokens, .set)
        } catch {
            throw FileFault(400, error.description)
        }
        fields[.contentType] = fields[.contentType] ?? sources[0].fields[.contentType]
        let held = sources.compactMap { store.hold($0.content) }
        disk.join(sources.map(\.content)) { [self] outcome in
            withExtendedLifetime(held) {}
            switch outcome {
            case .failure(let fault): then(.failure(fault))
            case .success(let stored):
                let old = store.record(target)
                guard conditions.check(old) == .met else { return then(.failure(.conditionNotMet)) }
                let now = Clock.now()
                let content = stored.content
                let new = FileRecord(
                    bucket: target.bucket,
                    name: target.name,
                    content: FileContent(
                        blob: content.blob,
                        byteCount: content.byteCount,
                        md5: nil,
                        crc32c: content.crc32c,
                        componentCount: FileRecord.componentCount(of: sources)
                    ),
                    generation: store.nextGeneration(now),
                    now: now,
                    fields: fields,
                    tokens: tokens
                )
                let change = FileChange(old: old, new: new)
                do throws(FileFault) { try checkQuota([change]) } catch {
                    return then(.failure(error))
                }
                commit(
                    [change],
                    "a file is composed",
                    target,
                    answer: FileAnswer(new, .server, base: context.base),
                    then
                )
                stored.letGo()
            }
        }
    }
}
