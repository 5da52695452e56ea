package import EventProtocol
import JSONTree

/// A long run of events for one observer, as texts made while its socket drains.
package struct EventStream: Sendable {
    /// What one step makes.
    package enum Step: Sendable {
        /// One event, whole.
        case text([UInt8])
        /// One event whose value is large.
        case event(StreamedEvent)
        /// Nothing so far: there is more to look at.
        case goesOn
        case end
    }

    /// Found already; they come before those of the sweep.
    private var events: ArraySlice<ObserverEvent>
    private var sweep: EventSweep?
    private let observer: Int64
    private let form: Node.JSONForm

    /// The events of a list, or of what a sweep has yet to find.
    init(
        _ events: ArraySlice<ObserverEvent> = [],
        then sweep: EventSweep? = nil,
        observer: Int64,
        form: Node.JSONForm
    ) {
        self.events = events
        self.sweep = sweep
        self.observer = observer
        self.form = form
    }

    /// Makes the next event; looks at some thousand children at most.
    package mutating func next() -> Step {
        if let event = events.popFirst() { return step(of: event) }
        switch sweep?.next() {
        case .goesOn: return .goesOn
        case .event(let event): return step(of: event)
        case .end, nil: return .end
        }
    }

    private func step(of event: ObserverEvent) -> Step {
        if event.isLarge {
            return .event(StreamedEvent.event(event, observer: observer, form))
        }
        return .text(event.encoded(observer: observer, form))
    }
}
