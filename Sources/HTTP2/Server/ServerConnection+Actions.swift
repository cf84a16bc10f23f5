import CNghttp2
import Glibc

extension ServerConnection {
    /// Asks the handler about a request that is complete, and does what it says.
    func handle(_ number: Int) {
        if let lastAccepted, streams[number].id > lastAccepted {
            // Read before the GOAWAY went out: libnghttp2 closes it when it does.
            return leaveOpen(number)
        }
        requests += 1
        let action = handler(streams[number].request)
        let stream = streams[number].id
        let isLatest = stream > lastHandled
        lastHandled = max(lastHandled, stream)
        switch action {
        case .respond(let response): respond(stream, response)
        case .respondAfter(let delay, let response): later.append((delay, stream, response))
        case .stall: leaveOpen(number)
        case .reset(let code): reset(stream, code)
        case .refuse: reset(stream, NGHTTP2_REFUSED_STREAM.rawValue)
        case .goAway(answeringThis: let response?):
            respond(stream, response)
            goAway(last: lastHandled)
        case .goAway(answeringThis: nil):
            leaveOpen(number)
            goAway(last: lastHandled)
        case .goAwayUnprocessed where isLatest: goAway(last: max(0, stream - 2))
        case .goAwayUnprocessed:
            // A GOAWAY cannot leave out this one alone, and later ones were complete before it.
            reset(stream, NGHTTP2_REFUSED_STREAM.rawValue)
            goAway(last: lastHandled)
        case .closeConnection(let hard): end = hard ? .hard : .orderly
        }
    }

    /// Does nothing if the stream has ended meanwhile.
    func respond(_ stream: Int32, _ response: HTTP2ServerResponse) {
        guard let number = number(of: stream) else { return }
        collectFields(of: response)
        let count = fieldSpans.count
        let code = fieldBytes.withUnsafeMutableBufferPointer { bytes in
            withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: count) { entries in
                let base = bytes.baseAddress!  // never empty: there is a status
                for (index, span) in fieldSpans.enumerated() {
                    let flags = span.isIndexed ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_INDEX
                    let entry = nghttp2_nv(
                        name: base + span.name.lowerBound, value: base + span.value.lowerBound,
                        namelen: span.name.count, valuelen: span.value.count, flags: UInt8(flags.rawValue))
                    entries.initializeElement(at: index, to: entry)
                }
                guard !response.body.isEmpty else {
                    return nghttp2_submit_response(session, stream, entries.baseAddress, count, nil)
                }
                streams[number].response = response.body
                var provider = nghttp2_data_provider()
                provider.source.fd = Int32(number)
                provider.read_callback = readResponse
                return nghttp2_submit_response(session, stream, entries.baseAddress, count, &provider)
            }
        }
        if code != 0 { reset(stream, NGHTTP2_INTERNAL_ERROR.rawValue) }
    }

    /// Names and values go into one buffer, which does not move while libnghttp2 copies them.
    private func collectFields(of response: HTTP2ServerResponse) {
        fieldBytes.removeAll(keepingCapacity: true)
        fieldSpans.removeAll(keepingCapacity: true)
        fieldBytes.append(contentsOf: ":status".utf8)
        for digit in [response.status / 100 % 10, response.status / 10 % 10, response.status % 10] {
            fieldBytes.append(UInt8(ascii: "0") + UInt8(digit))
        }
        fieldSpans.append((0..<7, 7..<10, true))
        for (name, value) in response.fields {
            let start = fieldBytes.count
            fieldBytes.append(contentsOf: name.utf8)
            let middle = fieldBytes.count
            fieldBytes.append(contentsOf: value.utf8)
            // Most others differ from answer to answer, and would only push each other out of the table.
            fieldSpans.append((start..<middle, middle..<fieldBytes.count, name == "content-type"))
        }
    }

    private func leaveOpen(_ number: Int) {
        streams[number].isLeftOpen = true
        leftOpen += 1
    }

    private func reset(_ stream: Int32, _ code: UInt32) {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
    }

    /// A later GOAWAY may only accept less (RFC 9113 §6.8).
    private func goAway(last stream: Int32) {
        let last = min(stream, lastAccepted ?? stream)
        lastAccepted = last
        let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        nghttp2_submit_goaway(session, flags, last, NGHTTP2_NO_ERROR.rawValue, debugData, debugData.count)
    }
}

/// Copies the next part of a response's body into a DATA frame.
private let readResponse: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, context in
    guard let buffer, let flags, let source, let context else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
    let connection = Unmanaged<ServerConnection>.fromOpaque(context).takeUnretainedValue()
    let number = Int(source.pointee.fd)
    let sent = connection.streams[number].responseSent
    let count = min(length, connection.streams[number].response.count - sent)
    connection.streams[number].response.withUnsafeBufferPointer { _ = memcpy(buffer, $0.baseAddress! + sent, count) }
    connection.streams[number].responseSent = sent + count
    if sent + count == connection.streams[number].response.count {
        flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
    }
    return count
}
