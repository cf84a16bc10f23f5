import CCurl

/// Owner of a `CURL` set up for one request, and of all memory that libcurl keeps pointers to.
final class CurlTransfer {
    let pointer: UnsafeMutableRawPointer
    let collected: CollectedResponse
    private var headerList: UnsafeMutablePointer<curl_slist>?

    init(
        _ request: HTTPClientRequest, configuration: HTTPClient.Configuration, timeout: Duration
    ) throws(HTTPClientError) {
        guard let pointer = curl_easy_init() else { throw HTTPClientError(.library, "no memory for a transfer") }
        self.pointer = pointer
        collected = CollectedResponse(limit: configuration.maximumBodyBytes)
        for (name, value) in request.headers.fields { headerList = curl_slist_append(headerList, "\(name): \(value)") }
        try setUp(request, configuration)
        try setLimits(timeout)
        try collect()
    }

    deinit {
        curl_easy_cleanup(pointer)
        curl_slist_free_all(headerList)
    }

    private func setUp(
        _ request: HTTPClientRequest, _ configuration: HTTPClient.Configuration
    ) throws(HTTPClientError) {
        try set(CURLOPT_URL, request.url)
        try set(CURLOPT_PROTOCOLS_STR, configuration.allowsPlainText ? "https,http" : "https")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        if let file = configuration.trustFile { try set(CURLOPT_CAINFO, file) }
        try check(ccurl_setopt_list(pointer, CURLOPT_HTTPHEADER, headerList))
        switch request.method {
        case .GET: try set(CURLOPT_HTTPGET, 1)
        case .POST:
            let body = request.body ?? []
            try set(CURLOPT_POST, 1)
            try set(CURLOPT_POSTFIELDSIZE, body.count)
            // Copied by libcurl; the size has to be set before.
            try check(
                body.withUnsafeBytes { bytes in
                    ccurl_setopt_pointer(
                        pointer, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
                })
        }
    }

    private func setLimits(_ timeout: Duration) throws(HTTPClientError) {
        let (seconds, attoseconds) = timeout.components
        let milliseconds = max(1, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
        try set(CURLOPT_TIMEOUT_MS, milliseconds)
        try set(CURLOPT_CONNECTTIMEOUT_MS, min(milliseconds, 10_000))
        // libcurl must not raise SIGALRM for name look-ups that take too long.
        try set(CURLOPT_NOSIGNAL, 1)
    }

    private func collect() throws(HTTPClientError) {
        let context = Unmanaged.passUnretained(collected).toOpaque()
        try check(ccurl_setopt_pointer(pointer, CURLOPT_WRITEDATA, context))
        try check(ccurl_setopt_pointer(pointer, CURLOPT_HEADERDATA, context))
        try check(
            ccurl_setopt_write(pointer, CURLOPT_WRITEFUNCTION) { data, size, count, context in
                let collected = Unmanaged<CollectedResponse>.fromOpaque(context!).takeUnretainedValue()
                let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
                return collected.take(bytes) ? bytes.count : 0  // anything but the count fails the transfer
            })
        try check(
            ccurl_setopt_write(pointer, CURLOPT_HEADERFUNCTION) { data, size, count, context in
                let collected = Unmanaged<CollectedResponse>.fromOpaque(context!).takeUnretainedValue()
                let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
                collected.takeHeaderLine(String(decoding: bytes, as: UTF8.self))
                return bytes.count
            })
    }

    func status(endingWith code: CURLcode) throws(HTTPClientError) -> Int {
        guard code == CURLE_OK else { throw HTTPClientError(code, bodyTooLarge: collected.isOverLimit) }
        var status = 0
        try check(ccurl_getinfo_long(pointer, CURLINFO_RESPONSE_CODE, &status))
        return status
    }

    private func set(_ option: CURLoption, _ value: Int) throws(HTTPClientError) {
        try check(ccurl_setopt_long(pointer, option, value))
    }

    private func set(_ option: CURLoption, _ value: String) throws(HTTPClientError) {
        try check(ccurl_setopt_string(pointer, option, value))
    }

    private func check(_ code: CURLcode) throws(HTTPClientError) {
        guard code == CURLE_OK else { throw HTTPClientError(code, bodyTooLarge: false) }
    }
}
