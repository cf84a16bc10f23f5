# shellcheck shell=bash
# A private PostgreSQL, for demo, tests and benchmarks. Source this file.
#
#   postgres_start DIR [SETTING=VALUE ...]   starts a server of its own in DIR; sets PGHOST, PGPORT, PGUSER
#   postgres_stop DIR [fast|immediate]       stops it; DIR stays
#   postgres_standby DIR PRIMARY NAME [SETTING=VALUE ...]
#                                            starts a streaming standby of the server in PRIMARY, known to it as NAME
#   postgres_kill DIR                        kills all of its processes at once, as a power cut would
#   postgres_promote DIR                     makes a standby the primary

postgres_bin() { find /usr/lib/postgresql -maxdepth 2 -name bin | sort -V | tail -n 1; }

# PostgreSQL refuses to run as root.
as_postgres() {
    if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

postgres_start() {
    local dir=$1 bin
    shift
    bin=$(postgres_bin)
    if [ ! -d "$dir/data" ]; then
        mkdir -p "$dir"
        chmod 755 "$dir"
        if [ "$(id -u)" -eq 0 ]; then chown postgres "$dir"; fi
        (cd / && as_postgres "$bin/initdb" --no-sync --locale=C --encoding=UTF8 --auth=trust --username=app \
            --pgdata="$dir/data" >"$dir/initdb.log")
        free_port >"$dir/port"
    fi
    {
        echo "listen_addresses = '127.0.0.1'"
        echo "port = $(cat "$dir/port")"
        echo "unix_socket_directories = ''"
        echo "max_connections = 200"
        printf '%s\n' "$@"
    } >"$dir/settings.conf"
    chmod 644 "$dir/settings.conf"
    grep -q "include '$dir/settings.conf'" "$dir/data/postgresql.conf" 2>/dev/null ||
        as_postgres bash -c "echo \"include '$dir/settings.conf'\" >>'$dir/data/postgresql.conf'"
    (cd / && as_postgres "$bin/pg_ctl" --silent --wait --pgdata="$dir/data" --log="$dir/server.log" start >/dev/null)
    export PGHOST=127.0.0.1 PGUSER=app
    PGPORT=$(cat "$dir/port")
    export PGPORT
}

postgres_stop() {
    local dir=$1 mode=${2:-fast}
    [ -d "$dir/data" ] || return 0
    (cd / && as_postgres "$(postgres_bin)/pg_ctl" --silent --mode="$mode" --pgdata="$dir/data" stop >/dev/null 2>&1) || true
}

postgres_standby() {
    local dir=$1 primary=$2 name=$3 bin
    shift 3
    bin=$(postgres_bin)
    mkdir -p "$dir"
    chmod 755 "$dir"
    if [ "$(id -u)" -eq 0 ]; then chown postgres "$dir"; fi
    (cd / && as_postgres "$bin/pg_basebackup" --no-sync --checkpoint=fast --wal-method=stream --write-recovery-conf \
        --dbname="host=127.0.0.1 port=$(cat "$primary/port") user=app application_name=$name" --pgdata="$dir/data")
    # The port stays when the server that was there before comes back as a standby.
    [ -f "$dir/port" ] || free_port >"$dir/port"
    # The primary's own place came along.
    as_postgres sed -i "/^include '.*settings.conf'/d" "$dir/data/postgresql.conf"
    # Once it is the primary it waits for nobody.
    postgres_start "$dir" "$@" "synchronous_standby_names = ''"
}

postgres_kill() {
    local postmaster
    postmaster=$(head -n 1 "$1/data/postmaster.pid")
    # Stopped first, so that it sees none of its children die.
    kill -STOP "$postmaster"
    pkill -KILL --parent "$postmaster" || true
    kill -KILL "$postmaster"
}

postgres_promote() {
    (cd / && as_postgres "$(postgres_bin)/pg_ctl" --silent --wait --pgdata="$1/data" promote >/dev/null)
}
