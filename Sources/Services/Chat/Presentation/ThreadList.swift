/// Direct chats and rooms in one list.
///
/// All its input is given: the program reads the profiles of the people and the read counts.
public struct ThreadList: Sendable {
    /// Whose list it is.
    public var me: UserProfile
    /// Profiles that are known, by account.
    public var people: [String: UserProfile]
    /// Keys of the muted chats and rooms.
    public var mutes: Set<String>
    /// Accounts in rooms, by the key of the room, for rooms whose name shows nothing.
    public var members: [String: [String]]

    /// Creates a user's list.
    public init(
        me: UserProfile,
        people: [String: UserProfile] = [:],
        mutes: Set<String> = [],
        members: [String: [String]] = [:],
    ) {
        self.me = me
        self.people = people
        self.mutes = mutes
        self.members = members
    }

    /// Direct chats and rooms, newest first by the server's times.
    public func merge(chats: [DirectChat], rooms: [RoomSummary]) -> [ChatThread] {
        (chats.map(thread) + rooms.map(thread)).sorted { $0.isNewer(than: $1) }
    }

    /// A direct chat as the list shows it.
    public func thread(_ chat: DirectChat) -> ChatThread {
        let own = "\(me.username): "
        let text =
            chat.lastMessage.hasPrefix(own)
            ? "You: " + chat.lastMessage.dropFirst(own.count) : chat.lastMessage
        return ChatThread(
            source: .direct(chat),
            title: title(ofChat: chat),
            picture: chat.member(beside: me.uid).flatMap { people[$0]?.picture },
            lastText: DisplayName.oneLine(text),
            time: chat.lastMessageAt,
            unread: max(chat.unread, 0),
            isMuted: mutes.contains(chat.key),
        )
    }

    /// A room as the list shows it.
    public func thread(_ room: RoomSummary) -> ChatThread {
        ChatThread(
            source: .room(room),
            title: title(ofRoom: room),
            picture: nil,
            lastText: DisplayName.oneLine(room.lastEventText),
            time: room.lastEventAt,
            unread: max(room.unread, 0),
            isMuted: mutes.contains(room.key),
        )
    }

    /// The other's name. The stored title may come from someone else, so it is used only without a profile, with the
    /// user's own name removed.
    private func title(ofChat chat: DirectChat) -> String {
        if let other = chat.member(beside: me.uid).flatMap({ people[$0] }) {
            return DisplayName.of(other)
        }
        let names = chat.title.split(separator: ", ").map(String.init)
        let others = names.filter { $0 != me.username }
        let title = names.count == 2 && others.count == 1 ? others[0] : chat.title
        return DisplayName.oneLine(title)
    }

    /// The name of the room; of one that shows nothing the names of the others in it.
    private func title(ofRoom room: RoomSummary) -> String {
        let name = DisplayName.oneLine(room.name)
        if !name.isEmpty { return name }
        let others = (members[room.key] ?? []).filter { $0 != me.uid }
        let names = others.map { people[$0].map(DisplayName.of) ?? DisplayName.oneLine($0) }
        return names.isEmpty ? room.key : DisplayName.list(names)
    }
}
