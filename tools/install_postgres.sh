#!/bin/sh
# Install PostgreSQL's server by Debian's package where there is none. Where that is not ours to do,
# one line says so, and the tests that need a server fail with the same advice.
for server in "$(command -v postgres)" /usr/lib/postgresql/*/bin/postgres /usr/pgsql-*/bin/postgres; do
    [ -x "$server" ] && exit 0
done

if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    as_root=none
fi
if [ "$as_root" = none ] || ! command -v apt-get >/dev/null; then
    echo "no PostgreSQL server, and no right or no apt-get to install it; Debian's package: postgresql" >&2
    exit 0
fi
$as_root apt-get update -q && $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends postgresql
