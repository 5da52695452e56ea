import Transport

/// The pages of the sample services: `/.samples/...`, in development, when they are asked for.
extension RequestService {
    func answerSamplePage(_ exchange: HTTPExchange) {
        let request = ResolvedRequest.of(exchange)
        guard configuration.servesSamples else {
            let text = "The sample pages are off; start the server with --dev --samples.\n"
            return answer(exchange, .plain(404, text))
        }
        guard let page = PageSet.samples.files[request.name] else {
            let text = "There is no such page; /.samples/ lists those that are.\n"
            return answer(exchange, .plain(404, text))
        }
        guard request.method == .get || request.method == .head else {
            return answer(exchange, request.route.methods.notAllowed)
        }
        let tags = request.head.headers("if-none-match")
        answer(exchange, .page(page, ifNoneMatch: tags))
    }
}
