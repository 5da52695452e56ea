import EventProtocol
import JSONTree
import Queries

/// The events that observers of the plain event protocol receive.
extension Database {
    /// Observers who receive the same events in the same form.
    private struct Audience {
        let form: Node.JSONForm
        let receivers: [NumberedReceiver]
    }

    /// Sends an observer the events that lead from nothing to the present.
    func beginObserving(_ listen: Listen, _ step: inout Step) {
        guard let observer = listen.number else { preconditionFailure("an observer has an id") }
        let receiver = NumberedReceiver(connection: listen.session.connection, number: observer)
        sendObservers(of: listen.view, since: nil, [receiver], &step)
    }

    /// Sends observers the events that lead to the present, from the state that they know or from nothing.
    func sendObservers(
        of view: View,
        since notified: ShownChildren?,
        _ receivers: [NumberedReceiver],
        _ step: inout Step
    ) {
        let node = root.descendant(at: view.node.path)
        guard case .events(let events, let form) = view.encoding,
            let shown = view.shownChildren(of: node)
        else { preconditionFailure("an observer follows children") }
        let audience = Audience(form: form, receivers: receivers)
        sendSweep(EventSweep(events, from: notified, to: shown), to: audience, &step)
    }

    /// Sends observers what one step changed in their view.
    func pushEvents(
        _ view: View,
        _ changes: [ViewChange],
        _ nodeStep: NodeStep,
        _ step: inout Step
    ) {
        guard case .events(let events, let form) = view.encoding, !view.numbered.isEmpty,
            let shown = view.shownChildren(of: nodeStep.new)
        else { return }
        var found: [ObserverEvent] = []
        if !events.isDisjoint(with: .children) {
            for event in shown.view.events(of: changes, in: shown.children)
            where events.contains(event.kind) { found.append(ObserverEvent(event)) }
        }
        if events.contains(.value), !changes.isEmpty || view.query.loadsEverything {
            found.append(.value(shown.result))
        }
        let audience = Audience(form: form, receivers: view.numbered.all)
        sendEvents(found[...], then: nil, to: audience, &step)
    }

    /// Sends observers what leads from one state of their view to another that has little in common with it.
    func pushSweep(
        _ view: View,
        from before: ShownChildren,
        to after: ShownChildren,
        _ step: inout Step,
    ) {
        guard case .events(let events, let form) = view.encoding else { return }
        let audience = Audience(form: form, receivers: view.numbered.all)
        sendSweep(EventSweep(events, from: before, to: after), to: audience, &step)
    }

    /// Sends the events of a sweep: of a short one encoded once for all, of a long one to each as its socket drains.
    private func sendSweep(_ sweep: EventSweep, to audience: Audience, _ step: inout Step) {
        if audience.receivers.isEmpty { return }
        if sweep.childLimit > Limits.eventsAtOnce {
            stream([], then: sweep, to: audience, &step)
        } else {
            sendEvents([], then: sweep, to: audience, &step)
        }
    }

    /// Sends events, then those that a sweep finds: encoded once for all, and when they become many bytes
    /// the rest to each as its socket drains.
    private func sendEvents(
        _ events: ArraySlice<ObserverEvent>,
        then sweep: EventSweep?,
        to audience: Audience,
        _ step: inout Step,
    ) {
        var events = events
        var sweep = sweep
        var byteCount = 0
        while !events.isEmpty || sweep != nil {
            if byteCount > Limits.eventByteCountAtOnce {
                return stream(events, then: sweep, to: audience, &step)
            }
            if let event = events.popFirst() {
                byteCount += sendEvent(event, to: audience, &step)
                continue
            }
            switch sweep?.next() {
            case .event(let event): byteCount += sendEvent(event, to: audience, &step)
            case .goesOn: continue
            case .end, nil: return
            }
        }
    }

    /// Sends events, then those that a sweep finds, to each receiver as its socket drains.
    private func stream(
        _ events: ArraySlice<ObserverEvent>,
        then sweep: EventSweep?,
        to audience: Audience,
        _ step: inout Step,
    ) {
        for (number, connections) in NumberedReceiver.byNumber(audience.receivers) {
            let stream = EventStream(events, then: sweep, observer: number, form: audience.form)
            emit(.send(.events(stream), to: connections), &step)
        }
    }

    /// Sends one event to observers who want it; returns the bytes of its text, 0 when that is made as sockets drain.
    private func sendEvent(
        _ event: ObserverEvent,
        to audience: Audience,
        _ step: inout Step
    ) -> Int {
        if event.isLarge, audience.form != .outline {
            // Those with the same number share one message, whose length is found out once.
            for (number, connections) in NumberedReceiver.byNumber(audience.receivers) {
                let stream = StreamedEvent.event(event, observer: number, audience.form)
                emit(.send(.event(stream), to: connections), &step)
            }
            return 0
        }
        let text = NumberedText(
            text: event.sharedText(audience.form),
            ending: ObserverEvent.ending
        )
        emit(.sendNumbered(text, to: audience.receivers), &step)
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
