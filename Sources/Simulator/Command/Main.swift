import ArgumentParser
import Crypto

/// `@main` on the command itself would take the `main()` of commands that do not wait.
@main enum Main {
    static func main() async {
        keepOpenSSLUntilTheEnd()
        await SimulatorCommand.main()
    }
}
