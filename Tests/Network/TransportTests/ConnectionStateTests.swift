import Testing

@testable import Transport

@Suite("the state of a connection")
struct ConnectionStateTests {
    private enum Event: String, CaseIterable {
        case finish, leave, fail, end
        case mark, begin, pull, wait, block, stop, unblock
        case pause, read, resumeLater, resume

        func happen(to state: inout ConnectionState) -> Bool {
            switch self {
            case .finish: state.finish()
            case .leave: state.leave()
            case .fail: state.fail()
            case .end: state.end()
            case .mark: state.mark()
            case .begin: state.begin()
            case .pull: state.pull()
            case .wait: state.wait()
            case .block: state.block()
            case .stop: state.stop()
            case .unblock: state.unblock()
            case .pause: state.read(false)
            case .read: state.read(true)
            case .resumeLater: state.resumeLater()
            case .resume: state.resume()
            }
        }
    }

    /// Every state that events lead to, each with every event and what that makes of it.
    private static let transitions = {
        var known: [ConnectionState] = [ConnectionState()]
        var found: [(from: ConnectionState, event: Event, to: ConnectionState, isDone: Bool)] = []
        var index = 0
        while index < known.count {
            let state = known[index]
            index += 1
            for event in Event.allCases {
                var next = state
                let isDone = event.happen(to: &next)
                found.append((state, event, next, isDone))
                if !known.contains(next) { known.append(next) }
            }
        }
        return found
    }()

    /// State and event to the next state; what is not listed changes nothing.
    private static let life: [ConnectionState.Life: [Event: ConnectionState.Life]] = [
        .open: [.finish: .finishing, .fail: .doomed, .end: .ended],
        .finishing: [.leave: .leaving, .fail: .doomed, .end: .ended],
        .leaving: [.fail: .doomed, .end: .ended],
        .doomed: [.end: .ended],
        .ended: [:],
    ]

    private static let output: [ConnectionState.Output: [Event: ConnectionState.Output]] = [
        .idle: [.mark: .marked, .begin: .sending],
        .marked: [.begin: .sending],
        .sending: [.mark: .sendingMarked, .wait: .waiting, .block: .blocked, .stop: .idle],
        .sendingMarked: [.wait: .waiting, .block: .blocked, .stop: .marked],
        .waiting: [.pull: .sending],
        .blocked: [.unblock: .idle],
    ]

    private static let input: [ConnectionState.Input: [Event: ConnectionState.Input]] = [
        .reading: [.pause: .paused, .resumeLater: .resuming],
        .resuming: [.pause: .pausedResuming, .resume: .reading],
        .paused: [.read: .reading, .resumeLater: .pausedResuming],
        .pausedResuming: [.read: .resuming, .resume: .paused],
    ]

    @Test("every state takes every event as the tables say")
    func table() {
        for (from, event, to, isDone) in Self.transitions {
            var output = Self.output[from.output]?[event] ?? from.output
            // Nothing is sent on a socket that is about to go.
            if !from.takesOutput, event == .begin { output = from.output }
            if !from.takesOutput, event == .pull, from.output == .waiting { output = .idle }
            let place = "\(from) \(event)"
            #expect(to.life == Self.life[from.life]?[event] ?? from.life, "\(place)")
            #expect(to.output == output, "\(place)")
            #expect(to.input == Self.input[from.input]?[event] ?? from.input, "\(place)")
            // A transition says that it happened where something changed; only a pull in vain does not.
            if !(event == .pull && !from.takesOutput) {
                #expect(isDone == (from != to), "\(place)")
            }
        }
    }

    @Test("events lead to every state")
    func reached() {
        let count =
            ConnectionState.Life.allCases.count * ConnectionState.Output.allCases.count
            * ConnectionState.Input.allCases.count
        #expect(Self.transitions.count == count * Event.allCases.count)
    }

    @Test("nothing is sent twice, and nothing is forgotten")
    func marks() {
        // The second mark while it is sent is a source's that asks for more.
        let steps: [(event: Event, isDone: Bool)] = [
            (.mark, true), (.mark, false), (.begin, true), (.begin, false), (.mark, true),
            (.stop, true), (.mark, false), (.begin, true), (.block, true), (.mark, false),
            (.stop, false), (.unblock, true), (.begin, true),
        ]
        var state = ConnectionState()
        for (event, isDone) in steps {
            let happened = event.happen(to: &state)
            #expect(happened == isDone, "\(event) in \(state)")
        }
    }
}
