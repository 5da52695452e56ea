struct Delivery {
    enum Phase: Equatable {
        /// Who wrote the message is being asked.
        case lookingUp
        case claiming
        /// To be posted as soon as there is room.
        case queued
        case posting
        /// To be posted again at this time.
        case waiting(until: Int64)
        /// How it ended is being stored.
        case ending
    }

    var phase: Phase
    var record: PushRecord
    var tryCount = 0
    var report: PushReport?
}
