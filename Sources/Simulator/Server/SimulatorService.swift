import HTTP2
import Logging
import ServiceLifecycle
import Threading

/// The simulator from its files to its last answer.
struct SimulatorService: Service {
    let configuration: SimulatorConfiguration
    let logger: Logger
    /// Called once requests are answered.
    let whenReady: @Sendable (Whereabouts) throws -> Void

    func run() async throws {
        let directory = try StateDirectory(configuration.stateDirectory)
        try directory.prepareCertificate(host: configuration.listen.host)
        let endpoints = Endpoints(
            seed: configuration.seed, projects: configuration.projects, state: try initialState())
        let server = try HTTP2Server(
            configuration: HTTP2ServerConfiguration(
                host: configuration.listen.host, port: configuration.listen.port,
                certificateFile: directory.certificateFile, keyFile: directory.keyFile,
                maxConcurrentStreams: configuration.maxConcurrentStreams),
            logger: logger, handler: { endpoints.answer(ProviderRequest($0)) })
        let sandbox = try sandboxServer(directory, endpoints)
        let whereabouts = try prepareAccounts(in: directory, endpoints, port: server.port, sandbox: sandbox.port)
        endpoints.attach(server, tokenURI: whereabouts.url + "/token")
        server.start()
        sandbox.start()
        if let file = configuration.readyFile { try directory.write(whereabouts.json + "\n", to: file) }
        try whenReady(whereabouts)
        await flushJournal(endpoints)
        server.stop()
        sandbox.stop()
        endpoints.detach()
        endpoints.state.withLock { $0.journal?.flush() }
    }

    private func initialState() throws -> SimulatorState {
        SimulatorState(
            seed: configuration.seed, faults: configuration.faults, script: configuration.script,
            tokenLifetime: configuration.tokenLifetime, keptIDs: configuration.keptIDs,
            // By the machine's steady clock, so that other processes' instants can be held against it.
            journal: try configuration.journal.map { try Journal(path: $0, start: ContinuousClock().systemEpoch) })
    }

    private var sandboxListen: Listen {
        configuration.sandboxListen ?? Listen(host: configuration.listen.host, port: 0)
    }

    /// Apple's sandbox is another host; everything else of it is the same.
    private func sandboxServer(_ directory: StateDirectory, _ endpoints: Endpoints) throws -> HTTP2Server {
        let listen = sandboxListen
        return try HTTP2Server(
            configuration: HTTP2ServerConfiguration(
                host: listen.host, port: listen.port, certificateFile: directory.certificateFile,
                keyFile: directory.keyFile, maxConcurrentStreams: configuration.maxConcurrentStreams),
            logger: logger, handler: { endpoints.answer(ProviderRequest($0, isSandbox: true)) })
    }

    private func prepareSigningKey(
        in directory: StateDirectory, _ endpoints: Endpoints, production: String, sandbox: String
    ) throws -> Whereabouts.APNs {
        let key = try directory.prepareSigningKey(
            topic: configuration.topic, production: production, sandbox: sandbox)
        endpoints.state.withLock { $0.providerTokens.keys[key.keyID] = key }
        return Whereabouts.APNs(
            credentialFile: directory.signingKeyFile, topic: key.topic, production: production, sandbox: sandbox)
    }

    private func prepareAccounts(
        in directory: StateDirectory, _ endpoints: Endpoints, port: UInt16, sandbox: UInt16
    ) throws -> Whereabouts {
        let url = "https://" + configuration.listen.authority(port: port)
        var accounts: [Whereabouts.Account] = []
        for (index, project) in configuration.projects.enumerated() {
            let account = try directory.prepareAccount(project, isFirst: index == 0, tokenURI: url + "/token")
            endpoints.state.withLock { $0.accounts[account.email] = account }
            accounts.append(
                Whereabouts.Account(
                    project: project, keyFile: directory.accountFile(project, isFirst: index == 0)))
        }
        let apns = try prepareSigningKey(
            in: directory, endpoints, production: url,
            sandbox: "https://" + sandboxListen.authority(port: sandbox))
        return Whereabouts(url: url, caFile: directory.authorityFile, accounts: accounts, apns: apns)
    }

    /// Until shutdown: what waits in the journal goes out once a second.
    private func flushJournal(_ endpoints: Endpoints) async {
        var hasFailed = false
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            // Cut short by shutdown and cancellation; the loop looks for both.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(1)) }
            let failure = endpoints.state.withLock { state in
                state.journal?.flush()
                return state.journal?.failure
            }
            if let failure, !hasFailed {
                hasFailed = true
                logger.error("The journal ends here", metadata: ["error": "\(failure)"])
            }
        }
    }
}
