package import JSONTree
import Queries
import WireProtocol

/// Why a frame cannot even be refused: it is not JSON, so the connection is closed.
package struct EventFrameError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong, and where.
    package let fault: JSONError

    /// What is wrong, for the log and the close reason.
    package var description: String {
        "not JSON: \(FaultText.json(fault.reason)) at byte \(fault.offset)"
    }

    /// The RFC 6455 close code to end the connection with.
    package static let closeCode: UInt16 = 1007
}

extension EventRequest {
    /// Reads one frame.
    ///
    /// Scans the text once, which separates invalid JSON from invalid requests, and then reads the
    /// members in place, in any order. `makeKey` returns the key of a `push`.
    ///
    /// - Throws: `EventFrameError` for text that is not JSON; every other fault is `refused`.
    package static func parse(
        _ text: [UInt8],
        makeKey: () -> Key,
    ) throws(EventFrameError) -> EventRequest {
        try text.withBytes { (bytes) throws(EventFrameError) in
            var members = RequestMembers(frame: bytes)
            do throws(JSONError) {
                guard try members.find() else {
                    let error = EventError(.badRequest, "A request is a JSON object.")
                    return EventRequest(id: nil, action: .refused(error))
                }
            } catch {
                guard let refusal = EventError(unstorable: error) else {
                    throw EventFrameError(fault: error)
                }
                return EventRequest(id: members.knownID, action: .refused(refusal))
            }
            do throws(EventError) {
                let id = try members.id()
                return EventRequest(id: id, action: try members.action(id, makeKey))
            } catch {
                return EventRequest(id: members.knownID, action: .refused(error))
            }
        }
    }
}

extension EventError {
    /// The refusal of JSON that no tree can hold; nil for text that is not JSON.
    fileprivate init?(unstorable error: JSONError) {
        switch error.reason {
        case .tooDeep, .stringTooLong, .numberOutOfRange: self.init(value: error)
        case .unexpectedEnd, .unexpectedByte, .trailingText, .badKey, .invalidUTF8, .badEscape,
            .controlCharacter, .badNumber, .badServerValue, .unexpectedServerValue,
            .valueBesideChildren, .badValue, .badPriority:
            return nil
        }
    }

    /// The refusal of a value that cannot be stored.
    init(value error: JSONError) {
        let code: EventErrorCode = error.reason == .tooDeep ? .tooDeep : .badValue
        self.init(code, "\(FaultText.json(error.reason)) at byte \(error.offset)")
    }

    /// The refusal of a value or path that cannot be written where it is wanted.
    init(_ fault: WriteFault) {
        let code: EventErrorCode =
            switch fault {
            case .tooDeep, .path(_, .tooDeep): .tooDeep
            case .priority: .badValue
            case .path, .infoPath, .emptyPath, .overlap: .badPath
            }
        self.init(code, "\(fault)")
    }
}
