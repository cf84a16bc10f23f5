import Domain
import FoundationEssentials
import Logging
import PlainHTTP
import QueueStore
import Transports

/// Looks at the credentials' files as sending does, and where asked at the way to their providers.
struct CredentialCheck {
    /// The database's.
    let now: Instant
    /// nil = nothing is connected to.
    let origins: OriginCheck?

    func findings(_ places: [CredentialPlace]) async -> [Finding] {
        guard !places.isEmpty else {
            return [
                .advice(
                    "credentials", "there is none",
                    remedy: "pushfleet credential add NAME --app APP --transport fcm --file KEY.json")
            ]
        }
        var findings: [Finding] = []
        var wanted: [String] = []
        for place in places {
            let (finding, origins) = file(place)
            findings.append(finding)
            if let reason = place.pausedBecause { findings.append(paused(place, reason)) }
            if let network = self.origins, finding.state == .ok, place.transport == .fcm {
                findings.append(await network.token(place, now: now))
            }
            for origin in origins where !wanted.contains(origin) { wanted.append(origin) }
        }
        if let origins { for origin in wanted { findings.append(await origins.finding(origin)) } }
        return findings
    }

    private func paused(_ place: CredentialPlace, _ reason: String) -> Finding {
        .wrong(
            "credential \(place.app)/\(place.name)", "paused: \(reason)",
            remedy: "mend its file, or: pushfleet credential resume \(place.name) --app \(place.app)")
    }

    /// The file, and the origins that sending with it connects to.
    private func file(_ place: CredentialPlace) -> (Finding, [String]) {
        let check = "credential \(place.app)/\(place.name)"
        guard FileManager.default.isReadableFile(atPath: place.file) else {
            let finding = Finding.wrong(
                check, "\(place.file) cannot be read here",
                remedy: "put the key there and let this user read it, or run the check where the workers run")
            return (finding, [])
        }
        do {
            let probe = try CredentialProbe(place, now: now)
            if let other = probe.differs(from: place) {
                return (.wrong(check, other, remedy: "put the right key there, or add this one anew"), probe.origins)
            }
            let success =
                place.secondsSinceSuccess.map { "last success \(short(.seconds($0))) ago" } ?? "no success yet"
            return (.ok(check, "\(probe.summary), \(success)"), probe.origins)
        } catch {
            let remedy = "download the key again, or make a new one, and put it at \(place.file)"
            return (.wrong(check, "\(error)", remedy: remedy), [])
        }
    }
}

extension CredentialProbe {
    fileprivate init(_ place: CredentialPlace, now: Instant) throws {
        switch place.transport {
        case .fcm: self = try .fcm(path: place.file, endpoint: place.endpoint, now: now)
        case .apns: self = try .apns(path: place.file, endpoint: place.endpoint, now: now)
        case .webpush: self = try .webPush(path: place.file, contact: place.contact ?? "", now: now)
        }
    }

    /// How the file contradicts what the database knows of it.
    fileprivate func differs(from place: CredentialPlace) -> String? {
        if let known = place.projectID, place.transport == .fcm, known != identity {
            return "the file is project \(identity)'s, not \(known)'s"
        }
        if let known = place.publicKey, place.transport == .webpush, known != identity {
            return "the file holds another key than the subscriptions were made for"
        }
        return nil
    }
}

/// Whether an origin can be reached: its name, a connection, TLS, and any answer at all.
struct OriginCheck: Sendable {
    private let client: HTTPClient
    private let deadline: Duration
    private let logger: Logger

    init(trustFile: String?, deadline: Duration = .seconds(5), logger: Logger) {
        var configuration = HTTPClient.Configuration()
        configuration.trustFile = trustFile
        client = HTTPClient(configuration: configuration)
        self.deadline = deadline
        self.logger = logger
    }

    func finding(_ origin: String) async -> Finding {
        let check = "origin \(origin)"
        do {
            let response = try await client.execute(
                HTTPClientRequest(url: origin + "/"), timeout: deadline, logger: logger)
            return .ok(check, "answers over TLS (status \(response.status) to a bare request)")
        } catch {
            return .wrong(check, error.context, remedy: remedy(error.code))
        }
    }

    /// Whether Google gives an access token for the key: one that was deleted there still signs. The token is dropped.
    func token(_ place: CredentialPlace, now: Instant) async -> Finding {
        let check = "token \(place.app)/\(place.name)"
        do {
            switch try await CredentialProbe.fcmToken(path: place.file, through: client, now: now, logger: logger) {
            case nil: return .ok(check, "Google gives one for this key")
            case .mayPass(let word)?:
                return .advice(check, "not given now: \(word)", remedy: "try again in some minutes")
            case .refused(let word, let reason)?: return .wrong(check, "refused: \(word)", remedy: reason.remedy)
            }
        } catch let error as HTTPClientError {
            return .wrong(check, error.context, remedy: remedy(error.code))
        } catch {
            return .wrong(check, "\(error)", remedy: "put a good key file at \(place.file)")
        }
    }

    private func remedy(_ code: HTTPClientError.Code) -> String {
        switch code {
        case .tlsFailed:
            "check this machine's clock and CA certificates (ca-certificates), and that no proxy ends TLS; --ca-file"
        case .proxyFailed:
            "check HTTPS_PROXY and NO_PROXY, and that the proxy allows the host; notifications go out without a proxy"
        case .connectFailed: "check DNS (getent hosts NAME) and that the firewall lets port 443 out"
        case .timedOut: "check that the firewall lets port 443 out: it seems to drop what is sent"
        default: "try again; check what stands between this machine and the provider"
        }
    }
}
