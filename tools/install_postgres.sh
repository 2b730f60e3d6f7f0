#!/bin/sh
# Install PostgreSQL's server by Debian's package where there is none. Where that is not ours to do,
# one line says so, and the tests that need a server fail with the same advice.
for server in "$(command -v postgres)" /usr/lib/postgresql/*/bin/postgres /usr/pgsql-*/bin/postgres; do
    [ -x "$server" ] && exit 0
done

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "no PostgreSQL server here; on Debian: sudo make postgres" >&2
    exit 0
fi

install() { DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"; }
settings=/etc/postgresql-common/createcluster.conf

apt-get update -q &&
    install postgresql-common &&
    # Only the programs: no server of the machine's own is made and left running.
    sed -i -E 's/^#?create_main_cluster.*/create_main_cluster = false/' "$settings" &&
    install postgresql
