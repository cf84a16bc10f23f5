import Crypto
import Domain

/// 128 random bits, fresh at each start: never a number of the database, which a failover could issue twice.
func randomWorkerID() throws -> WorkerID {
    let hex = try SecureRandom.bytes(16).map { byte in
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }.joined()
    var text = ""
    for (index, digit) in hex.enumerated() {
        if [8, 12, 16, 20].contains(index) { text += "-" }
        text.append(digit)
    }
    return WorkerID(text)
}
