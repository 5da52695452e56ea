import FileProtocol
import FileRecords
import JSONTree
import Transport

/// Several calls of a library of servers in one request, one after the other.
extension FileService {
    func answerBatch(_ body: [UInt8], _ boundary: [UInt8], _ ask: FileAsk) {
        let parts: [FileBatch.Part]
        do throws(FileFault) { parts = try FileBatch.parts(body, boundary: boundary) } catch {
            return refuse(ask, error)
        }
        go(on: parts[...], [], ask)
    }

    private func go(
        on parts: ArraySlice<FileBatch.Part>,
        _ answers: [(contentID: String?, answer: FileAnswer)],
        _ ask: FileAsk
    ) {
        guard let part = parts.first else {
            let text = Hexadecimal.encode((0..<16).map { _ in UInt8.random(in: 0...255) })
            return answer(ask, FileBatch.answer(answers, boundary: "batch_\(text)"))
        }
        perform(part, ask) { [self] answer in
            go(on: parts.dropFirst(), answers + [(part.contentID, answer)], ask)
        }
    }

    private func perform(
        _ part: FileBatch.Part,
        _ ask: FileAsk,
        then: @escaping @LoopActor (FileAnswer) -> Void
    ) {
        let request: FileRequest
        do throws(FileRefusal) { request = try FileRequest(part.head) } catch {
            return then(FileAnswer(error.fault, .server))
        }
        guard request.dialect == .server else {
            return then(FileAnswer(.notImplemented, .server))
        }
        let context = FileContext(caller: ask.caller, dialect: .server, base: ask.base, token: nil)
        perform(request.call, context, part.body) { outcome in
            switch outcome {
            case .success(let deed): then(deed.answer)
            case .failure(let fault): then(FileAnswer(fault, .server))
            }
        }
    }
}
