import Chat
import Foundation
import ServiceCommand

extension AttachmentFile {
    /// The file at a path, which may begin with `~`.
    init(path: String) throws {
        try self.init(URL(fileURLWithPath: (path as NSString).expandingTildeInPath))
    }
}

extension Client {
    /// Sends files as one message, in a chat or room that is there.
    func send(
        _ files: [AttachmentFile],
        text: String?,
        in thread: ThreadChoice,
        progress: @escaping AttachmentService.Progress,
    ) async throws {
        switch thread {
        case .direct(let chat):
            try await chats.send(files, content: text, for: chat, progress: progress)
        case .room(let room):
            try await naming("send to #\(room.name)") {
                try await rooms.send(files, text: text, to: room.key, progress: progress)
            }
        case .person(let person):
            throw ServiceError.notFound(
                "chat with \(person.username) yet: say something first, then send files"
            )
        }
    }
}
