import DatabaseCore
import JSONTree
import Queries

/// One operation as the profiler's readers know it.
///
///     event: log
///     data: {"name":"realtime-write","timestamp":1700000000000,"path":["a","b"],"bytes":17,"millis":0.041,
///            "pendingTime":0.002,"allowed":true}
///
/// on one line of data. Source: firebase-tools, `profileReport.ts`.
struct ProfileText: Sendable {
    let database: DatabaseID
    let record: OperationRecord
    let time: Timestamp
    /// What the step took that did it.
    let stepNanoseconds: UInt64
    /// From the beginning of the tick to the step.
    let waitNanoseconds: UInt64

    /// Bytes of one value that are counted; a larger one counts as so many.
    private static let countedByteLimit = 64 << 20

    /// The event. Long for large values, whose bytes are counted: no work for the loop.
    func text() -> [UInt8] {
        let isTimed =
            switch record.name {
            case .connect, .disconnect, .unlisten: false
            case .read, .write, .transaction, .update, .listen, .broadcast, .restRead, .restWrite,
                .restUpdate:
                true
            }
        let index = record.missingIndex
        let json: JSONValue = [
            "name": .string(record.name.rawValue), "timestamp": .integer(time.milliseconds),
            "path": Self.json(of: record.path), "bytes": isTimed ? .number(byteCount) : nil,
            "millis": isTimed ? Self.milliseconds(stepNanoseconds) : nil,
            "pendingTime": Self.milliseconds(waitNanoseconds),
            "allowed": .boolean(record.isAllowed),
            "unIndexed": index == nil ? nil : .boolean(true),
            "querySet": index.map { .list([["index": ["path": Self.json(of: $0)]]]) },
        ]
        return Array("event: log\ndata: ".utf8) + json.text + Array("\n\n".utf8)
    }

    /// An event for records that were dropped.
    static func dropped(_ count: Int, at time: Timestamp) -> [UInt8] {
        Array(
            """
            event: log
            data: {"name":"dropped","timestamp":\(time.milliseconds),"path":[],"count":\(count)}


            """.utf8
        )
    }

    private var byteCount: Int {
        record.values.reduce(record.textByteCount) { sum, value in
            var count = TextCount(AnswerText(value.node, .export))
            _ = count.advance(atLeast: Self.countedByteLimit)
            return sum + count.byteCount * value.count
        }
    }

    private static func json(of path: Path) -> JSONValue {
        .list((0..<path.keyCount).map { .string(path.key(at: $0).string) })
    }

    private static func json(of missing: QuerySpec.Index) -> JSONValue {
        switch missing {
        case .child(let path): json(of: path)
        case .value: .list([".value"])
        // These need no index.
        case .key, .priority: .list([])
        }
    }

    /// Milliseconds with microseconds behind the point.
    private static func milliseconds(_ nanoseconds: UInt64) -> JSONValue {
        let microseconds = nanoseconds / 1_000
        let rest = String(microseconds % 1_000)
        let zeros = String(repeating: "0", count: 3 - rest.count)
        return .raw(Array("\(microseconds / 1_000).\(zeros)\(rest)".utf8))
    }
}
