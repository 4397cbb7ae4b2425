#!/bin/bash
# What the chart uses of the entry point of docker.io/library/postgres:18: a new cluster's superuser, and the scripts that prepare it.
set -euo pipefail
[ "${1:0:1}" != - ] || set -- postgres "$@"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  printf '%s\n' "$POSTGRES_PASSWORD" >/tmp/password
  # shellcheck disable=SC2086 -- several arguments
  initdb --username=postgres --pwfile=/tmp/password ${POSTGRES_INITDB_ARGS:-}
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  printf '%s\n' "listen_addresses = '*'" "unix_socket_directories = '/var/run/postgresql'" >>"$PGDATA/postgresql.conf"
  pg_ctl --wait --options="-c listen_addresses=''" start
  for script in /docker-entrypoint-initdb.d/*.sh; do . "$script"; done
  pg_ctl --wait --mode=fast stop
fi
exec "$@"
