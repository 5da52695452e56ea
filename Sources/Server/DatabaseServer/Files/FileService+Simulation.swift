import FileProtocol
import FileRecords
import FileRules
import FileRulesTools
import Transport

/// Requests for files that administrators try.
extension FileService {
    /// The bucket that is meant when none is named: the only one there is.
    var onlyBucket: String? {
        let buckets = buckets
        return buckets.count == 1 ? buckets[0].text : nil
    }

    /// Decides a request as one of a client would be decided now, and changes nothing. A worker writes the answer.
    func answer(_ simulation: FileSimulation, inWords: Bool, _ pending: PendingExchange) {
        let bucket: BucketName
        var stored: FileRecord?
        do throws(NameFault) {
            bucket = try BucketName(simulation.bucket)
            if simulation.asksStored {
                let name = try ObjectName(simulation.path)
                stored = store.record(ObjectAddress(bucket, name))
            }
        } catch {
            return finish(pending, .error(400, "\(error)"))
        }
        guard serves(bucket) else {
            let known = buckets.map(\.text).joined(separator: ", ")
            let text =
                "There is no bucket '\(bucket.text)'; there \(known.isEmpty ? "is none" : "are: \(known)")."
            return finish(pending, .error(400, text))
        }
        let result = simulation.decided(
            under: rules.rules(of: bucket),
            stored: stored.map { FileResource($0) },
            database: { self.read($0, $1) }
        )
        let isTaken = workers.values.perform {
            result.answer(inWords: inWords)
        } then: { [self] in
            finish(pending, .simulated($0))
        }
        if !isTaken { finish(pending, .error(503, "Too much is being read.")) }
    }
}
