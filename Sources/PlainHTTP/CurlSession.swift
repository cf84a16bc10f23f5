import CCurl
import Glibc

/// Owner of a `CURLM`, which keeps connections from one transfer to the next. Used by the thread of its client only.
final class CurlSession {
    private let pointer: UnsafeMutableRawPointer

    private static let isSetUp = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    init() throws(HTTPClientError) {
        guard Self.isSetUp, let pointer = curl_multi_init() else {
            throw HTTPClientError(.library, "libcurl cannot be set up")
        }
        self.pointer = pointer
    }

    /// A write to a connection that the peer has reset would otherwise end the process: libcurl leaves the signal alone
    /// once it is told to raise none itself. It goes to the thread that wrote.
    private static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// It says goodbye to servers that are still connected, on whatever thread the last owner let go.
    deinit {
        Self.blockBrokenPipeSignal()
        curl_multi_cleanup(pointer)
    }

    /// Blocks until the transfer has ended or its task is cancelled.
    /// - Returns: the answer's status.
    func perform(_ transfer: CurlTransfer) throws(HTTPClientError) -> Int {
        Self.blockBrokenPipeSignal()
        guard curl_multi_add_handle(pointer, transfer.pointer) == CURLM_OK else {
            throw HTTPClientError(.library, "the transfer cannot be begun")
        }
        defer { curl_multi_remove_handle(pointer, transfer.pointer) }
        var running: Int32 = 1
        while running > 0 {
            if Task.isCancelled { throw HTTPClientError(.cancelled, "the task was cancelled") }
            guard curl_multi_perform(pointer, &running) == CURLM_OK else {
                throw HTTPClientError(.library, "the transfer cannot go on")
            }
            // A tenth of a second: how late a cancellation may be noticed.
            if running > 0 { curl_multi_poll(pointer, nil, 0, 100, nil) }
        }
        return try transfer.status(endingWith: ending())
    }

    private func ending() -> CURLcode {
        var left: Int32 = 0
        while let message = curl_multi_info_read(pointer, &left) {
            if message.pointee.msg == CURLMSG_DONE { return message.pointee.data.result }
        }
        return CURLE_FAILED_INIT
    }
}
