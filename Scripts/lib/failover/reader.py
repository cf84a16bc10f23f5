"""Somebody who reads reports on the standby for as long as they like, in one transaction."""
import subprocess


class Reader:
    SAMPLE = "SELECT count(*) FROM pushfleet_report.runs, pushfleet_report.queue, pushfleet_report.hourly"

    def __init__(self, url):
        self.process = subprocess.Popen(
            ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.process.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ;\n")
        self.first = self.ask()

    def ask(self):
        """What the standby answers; empty once it has ended the transaction."""
        try:
            self.process.stdin.write(self.SAMPLE + ";\n")
            self.process.stdin.flush()
            return self.process.stdout.readline().strip()
        except BrokenPipeError:
            return ""

    def is_undisturbed(self):
        return self.first != "" and self.ask() == self.first

    def end(self):
        self.process.kill()
        self.process.wait()
