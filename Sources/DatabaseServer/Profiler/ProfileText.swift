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
    /// From the beginning of the turn of the loop to the step.
    let waitNanoseconds: UInt64

    /// Bytes of one value that are counted; a larger one counts as so many.
    private static let countedByteLimit = 64 << 20

    /// The event. Long for large values, whose bytes are counted: no work for the loop.
    func text() -> [UInt8] {
        var text = Array("event: log\ndata: {\"name\":\"\(record.name.rawValue)\"".utf8)
        text += Array(",\"timestamp\":\(time.milliseconds),\"path\":".utf8)
        ProfileText.append(record.path, to: &text)
        switch record.name {
        case .connect, .disconnect, .unlisten: break
        case .read, .write, .transaction, .update, .listen, .broadcast, .restRead, .restWrite,
            .restUpdate:
            text += Array(",\"bytes\":\(byteCount)".utf8)
            text += Array(",\"millis\":\(ProfileText.milliseconds(stepNanoseconds))".utf8)
        }
        text += Array(",\"pendingTime\":\(ProfileText.milliseconds(waitNanoseconds))".utf8)
        text += Array(",\"allowed\":\(record.isAllowed)".utf8)
        if let index = record.missingIndex { ProfileText.append(missing: index, to: &text) }
        text += Array("}\n\n".utf8)
        return text
    }

    /// An event for records that found no place.
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

    private static func append(_ path: Path, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "["))
        for index in 0..<path.keyCount {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            appendJSONString(path.key(at: index).string, to: &text)
        }
        text.append(UInt8(ascii: "]"))
    }

    private static func append(missing index: QuerySpec.Index, to text: inout [UInt8]) {
        text += Array(",\"unIndexed\":true,\"querySet\":[{\"index\":{\"path\":".utf8)
        switch index {
        case .child(let path): append(path, to: &text)
        case .value: text += Array("[\".value\"]".utf8)
        // These need no index.
        case .key, .priority: text += Array("[]".utf8)
        }
        text += Array("}}]".utf8)
    }

    /// Milliseconds with microseconds behind the point.
    private static func milliseconds(_ nanoseconds: UInt64) -> String {
        let microseconds = nanoseconds / 1_000
        let rest = String(microseconds % 1_000)
        return "\(microseconds / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
