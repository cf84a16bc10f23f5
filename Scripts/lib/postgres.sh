# A private PostgreSQL, for demo, tests and benchmarks. Source this file.
#
#   postgres_start DIR [SETTING=VALUE ...]   starts a server of its own in DIR; sets PGHOST, PGPORT, PGUSER
#   postgres_stop DIR [fast|immediate]       stops it; DIR stays

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
