import EventProtocol
import JSONTree
import Queries

/// What observers of the plain event protocol are told.
extension Database {
    /// Tells an observer the events that lead from nothing to the present.
    func tellPresent(_ listen: Listen, _ effects: inout [Effect]) {
        guard let observer = listen.number else { preconditionFailure("an observer has an id") }
        let receiver = NumberedReceiver(
            connection: listen.session.connection,
            number: observer
        )
        tellPresent(listen.view, since: nil, [receiver], &effects)
    }

    /// Tells observers the events that lead to the present, from what they were told before or from nothing.
    func tellPresent(
        _ view: View,
        since told: ShownChildren?,
        _ receivers: [NumberedReceiver],
        _ effects: inout [Effect]
    ) {
        let node = root.descendant(at: view.node.path)
        guard case .events(let events, let isExport) = view.encoding,
            let shown = view.shownChildren(of: node)
        else { preconditionFailure("an observer follows children") }
        let sweep = EventSweep(events, from: told, to: shown)
        tell(sweep, isExport, receivers, &effects)
    }

    /// Tells observers what one step changed in their view.
    func pushEvents(
        _ view: View,
        _ changes: [ViewChange],
        _ step: NodeStep,
        _ effects: inout [Effect]
    ) {
        guard case .events(let events, let isExport) = view.encoding, !view.numbered.isEmpty,
            let shown = view.shownChildren(of: step.new)
        else { return }
        var found: [ObserverEvent] = []
        if !events.isDisjoint(with: .children) {
            for event in shown.view.events(of: changes, in: shown.children)
            where events.contains(event.kind) { found.append(ObserverEvent(event)) }
        }
        if events.contains(.value), !changes.isEmpty || view.query.loadsEverything {
            found.append(.value(shown.result))
        }
        tell(found[...], then: nil, isExport, view.numbered.all, &effects)
    }

    /// Tells observers what leads from one state of their view to another that has little in common
    /// with it.
    func pushEvents(
        _ view: View,
        from before: ShownChildren,
        to after: ShownChildren,
        _ effects: inout [Effect],
    ) {
        guard case .events(let events, let isExport) = view.encoding else { return }
        tell(EventSweep(events, from: before, to: after), isExport, view.numbered.all, &effects)
    }

    /// Sends the events of a sweep: of a short one encoded once for all, of a long one to each as its socket
    /// drains.
    private func tell(
        _ sweep: EventSweep,
        _ isExport: Bool,
        _ receivers: [NumberedReceiver],
        _ effects: inout [Effect],
    ) {
        if receivers.isEmpty { return }
        if sweep.childLimit > Limits.eventsAtOnce {
            stream([], then: sweep, isExport, receivers, &effects)
        } else {
            tell([], then: sweep, isExport, receivers, &effects)
        }
    }

    /// Sends events, then those that a sweep finds: encoded once for all, and when they become many bytes
    /// the rest to each as its socket drains.
    private func tell(
        _ events: ArraySlice<ObserverEvent>,
        then sweep: EventSweep?,
        _ isExport: Bool,
        _ receivers: [NumberedReceiver],
        _ effects: inout [Effect],
    ) {
        var events = events
        var sweep = sweep
        var byteCount = 0
        while !events.isEmpty || sweep != nil {
            if byteCount > Limits.eventByteCountAtOnce {
                stream(events, then: sweep, isExport, receivers, &effects)
                return
            }
            if let event = events.popFirst() {
                byteCount += tell(event, isExport, receivers, &effects)
                continue
            }
            switch sweep?.next() {
            case .event(let event): byteCount += tell(event, isExport, receivers, &effects)
            case .goesOn: continue
            case .end, nil: return
            }
        }
    }

    /// Sends events, then those that a sweep finds, to each receiver as its socket drains.
    private func stream(
        _ events: ArraySlice<ObserverEvent>,
        then sweep: EventSweep?,
        _ isExport: Bool,
        _ receivers: [NumberedReceiver],
        _ effects: inout [Effect],
    ) {
        for (number, connections) in NumberedReceiver.byNumber(receivers) {
            let stream = EventStream(events, then: sweep, observer: number, isExport: isExport)
            emit(.send(.events(stream), to: connections), &effects)
        }
    }

    /// Sends one event to observers who want it; returns the bytes of its text, 0 when that is made as
    /// sockets drain.
    private func tell(
        _ event: ObserverEvent,
        _ isExport: Bool,
        _ receivers: [NumberedReceiver],
        _ effects: inout [Effect],
    ) -> Int {
        if event.isLarge {
            // Those with the same number share one message, whose length is found out once.
            for (number, connections) in NumberedReceiver.byNumber(receivers) {
                let stream = StreamedEvent.event(event, observer: number, isExport: isExport)
                emit(.send(.event(stream), to: connections), &effects)
            }
            return 0
        }
        let text = NumberedText(
            text: event.sharedText(isExport: isExport),
            ending: ObserverEvent.ending
        )
        emit(.sendNumbered(text, to: receivers), &effects)
        return text.text.count
    }
}

extension ObserverEvent {
    init(_ event: ChildEvent) {
        self =
            switch event.kind {
            case .removed: .childRemoved(event.key, event.node)
            case .added: .childAdded(event.key, previousKey: event.previousKey, event.node)
            case .moved: .childMoved(event.key, previousKey: event.previousKey, event.node)
            case .changed: .childChanged(event.key, previousKey: event.previousKey, event.node)
            }
    }

    /// Whether its value is better encoded as the socket drains.
    var isLarge: Bool {
        switch self {
        case .value(let node), .childAdded(_, _, let node), .childChanged(_, _, let node),
            .childMoved(_, _, let node), .childRemoved(_, let node):
            node.isLarge(from: Limits.nodesEncodedAtOnce)
        case .cancelled: false
        }
    }
}
