import Domain
import Logging
import ServiceLifecycle
import Threading

extension Worker {
    /// Watches the files of paused credentials and opens again those whose file is another than the one that failed.
    func credentialLoop() async {
        while !isDraining {
            do {
                for credential in try await store.pausedCredentials() { try await mend(credential) }
            } catch {
                logger.warning("paused credentials not looked at", metadata: ["error": "\(error)"])
            }
            await credentialsWanted.wait(until: clock.now + configuration.credentialWatch)
        }
    }

    private func mend(_ credential: CredentialReference) async throws {
        let current = await transports.fingerprint(of: credential)
        guard !current.isEmpty, current != credential.faultFingerprint else { return }
        if try await store.mend(credential) {
            logger.info("credential opened again: its file changed", metadata: ["credential": "\(credential.name)"])
        }
    }

    /// Whether this machine still has the file that proved useless, while others may have a better one.
    func hasUselessFile(_ credential: CredentialReference) async -> Bool {
        guard let fault = credential.faultFingerprint else { return false }
        return await transports.fingerprint(of: credential) == fault
    }

    /// Asks for the pause of every credential that an answer spoke against, until it is confirmed.
    func pauseFaultyCredentials() async {
        for (id, fault) in faultyCredentials {
            do {
                var fingerprint = await transports.usedFingerprint(of: fault.credential)
                if fingerprint == nil { fingerprint = await transports.fingerprint(of: fault.credential) }
                try await store.pause(
                    credential: id, fault: CredentialFault(reason: fault.reason, fingerprint: fingerprint))
                logger.error(
                    "credential paused",
                    metadata: ["credential": "\(fault.credential.name)", "reason": "\(fault.reason.name)"])
                faultyCredentials[id] = nil
            } catch {
                logger.warning("credential not paused yet", metadata: ["error": "\(error)"])
            }
        }
    }
}
