#!/bin/sh
# Installs what some tests need beyond Python: database servers, a browser, MiniZinc with Gecode and Java (for Spark). Missing pieces are no error: their tests skip and say so.
set -u
# name of a Debian package : a path that shows it is there already
wanted="postgresql:/usr/lib/postgresql mariadb-server:/usr/sbin/mariadbd chromium:/usr/bin/chromium chromium-driver:/usr/bin/chromedriver minizinc:/usr/bin/minizinc openjdk-17-jre-headless:/usr/bin/java"
missing=""
for pair in $wanted; do
    package=${pair%%:*}
    path=${pair#*:}
    [ -e "$path" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "Not installed (needs root on Debian):$missing. The tests that use them will skip."
    exit 0
fi
echo "Installing for the tests:$missing"
export DEBIAN_FRONTEND=noninteractive
# Servers are started by the tests themselves; the packages must not start their own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    # Left behind, it would keep every service of this machine from starting.
    trap 'rm -f "$policy"' EXIT
    trap 'exit 130' INT TERM HUP
    printf '#!/bin/sh\nexit 101\n' > "$policy" && chmod 755 "$policy"
fi
apt-get update -qq >/dev/null 2>&1
for package in $missing; do
    apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 \
        || echo "Could not install $package; the tests that use it will skip."
done
exit 0
