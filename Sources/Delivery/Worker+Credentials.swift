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

    /// Takes in that an answer spoke against a credential: nothing more is begun with it, here from now on and in the
    /// fleet once it hears of it.
    func noteFault(of credential: CredentialReference, _ reason: Reason) {
        closeBatches(of: credential.id, before: credential.revision + 1)
        guard (faultyCredentials[credential.id]?.credential.revision ?? .min) < credential.revision else { return }
        faultyCredentials[credential.id] = (credential, reason)
        reportsWanted.signal()
    }

    /// An answer spoke against it as it is, and the fleet does not know it yet: a batch that went back now would be
    /// claimed again at once.
    func isFaulty(_ credential: CredentialReference) -> Bool {
        (faultyCredentials[credential.id]?.credential.revision ?? .min) >= credential.revision
    }

    /// What is left of these batches goes back: their transport was made of a file that proved useless, or was replaced.
    func closeBatches(of credential: Credential.ID, before revision: Int32) {
        for batch in held.values
        where batch.route.credential.id == credential && batch.route.credential.revision < revision {
            batch.close()
        }
    }

    /// Asks for the pause of every credential that an answer spoke against, until it is confirmed.
    func pauseFaultyCredentials() async {
        for (id, fault) in faultyCredentials {
            do {
                // Of what its transport was made. The file may be another by now: it has not failed.
                let fingerprint = await transports.usedFingerprint(of: fault.credential)
                try await store.pause(
                    credential: id,
                    fault: CredentialFault(
                        reason: fault.reason, fingerprint: fingerprint, revision: fault.credential.revision))
                logger.error(
                    "credential paused",
                    metadata: ["credential": "\(fault.credential.name)", "reason": "\(fault.reason.name)"])
                // Meanwhile another answer may have spoken against what it was mended to.
                if faultyCredentials[id]?.credential.revision == fault.credential.revision {
                    faultyCredentials[id] = nil
                }
            } catch {
                logger.warning("credential not paused yet", metadata: ["error": "\(error)"])
            }
        }
    }
}
