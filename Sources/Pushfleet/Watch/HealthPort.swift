import PlainHTTPServer
import Prometheus
import Threading

/// What /livez, /readyz, /startupz and /metrics answer (Kubernetes: Configure Liveness, Readiness and Startup Probes).
struct HealthPort: Sendable {
    let registry: PrometheusCollectorRegistry
    /// Names what is not ready; empty = ready. A database that is away makes a process not ready, never dead.
    let unready: @Sendable () -> [String]
    /// All services were started.
    let isStarted: @Sendable () -> Bool

    func answer(_ request: HTTPServerRequest) -> HTTPServerResponse {
        guard request.method == "GET" || request.method == "HEAD" else {
            return HTTPServerResponse(status: 405, headers: [("allow", "GET, HEAD")])
        }
        switch request.path {
        case "/livez":
            return HTTPServerResponse(status: 200, text: "alive\n")
        case "/startupz":
            return HTTPServerResponse(status: isStarted() ? 200 : 503, text: isStarted() ? "started\n" : "starting\n")
        case "/readyz":
            let unready = unready()
            return HTTPServerResponse(
                status: unready.isEmpty ? 200 : 503,
                text: unready.isEmpty ? "ready\n" : unready.map { "\($0) is not ready\n" }.joined())
        case "/metrics":
            var text = ""
            registry.emit(into: &text)
            return HTTPServerResponse(
                status: 200, headers: [("content-type", "text/plain; version=0.0.4; charset=utf-8")],
                body: Array(text.utf8))
        default:
            return HTTPServerResponse(status: 404, text: "try /metrics, /livez, /readyz or /startupz\n")
        }
    }
}
