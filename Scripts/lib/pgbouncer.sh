# shellcheck shell=bash
# A private PgBouncer in transaction mode before a private PostgreSQL. Source this file after postgres.sh.
#
#   pgbouncer_start DIR   in front of the server that postgres_start DIR started; sets pooler_url
#   pgbouncer_stop DIR    stops it, if it runs

pgbouncer_start() {
    local dir=$1/pgbouncer port bin login
    bin=$(command -v pgbouncer || echo /usr/sbin/pgbouncer)
    port=$(free_port)
    mkdir -p "$dir"
    cat >"$dir/pgbouncer.ini" <<END
[databases]
* = host=$PGHOST port=$PGPORT
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = trust
auth_file = $dir/users
pool_mode = transaction
default_pool_size = 20
max_client_conn = 1000
# Databases come and go with the tests.
server_idle_timeout = 2
autodb_idle_timeout = 5
# A server that is restarted is back at once.
server_login_retry = 0.2
pidfile = $dir/pid
logfile = $dir/log
log_connections = 0
log_disconnections = 0
END
    # The logins of a fleet's roles, too (Deploy/postgresql/roles.sql).
    for login in "$PGUSER" fleet_{owner,scheduler,worker,janitor,all,reporter,intake}; do
        echo "\"$login\" \"\""
    done >"$dir/users"
    if [ "$(id -u)" -eq 0 ]; then chown -R postgres "$dir"; fi
    (cd / && as_postgres "$bin" --quiet --daemon "$dir/pgbouncer.ini")
    # shellcheck disable=SC2034
    pooler_url="postgresql://$PGUSER@127.0.0.1:$port/postgres"
}

pgbouncer_stop() {
    local pid
    pid=$(cat "$1/pgbouncer/pid" 2>/dev/null) || return 0
    kill "$pid" 2>/dev/null || true
}
