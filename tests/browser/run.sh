#!/bin/sh
# Opens the pages that isofactor writes in Chromium and checks them; see check.mjs. Skips, with a
# line that says so, where Chromium or Node is missing and cannot be installed.
#
#   tests/browser/run.sh [PAGE.html ...]     pages to check beside those made here
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
out=$target/browser

skip() {
    echo "browser test skipped: $1"
    exit 0
}

find_chromium() {
    for name in "${CHROMIUM:-chromium}" chromium-browser google-chrome; do
        if command -v "$name"; then return 0; fi
    done
    return 1
}

command -v node >/dev/null && command -v npm >/dev/null || skip "node and npm are needed"
if ! chromium=$(find_chromium); then
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || skip "no Chromium here"
    apt-get install -y -qq chromium >/dev/null 2>&1 || skip "Chromium cannot be installed"
    chromium=$(find_chromium) || skip "no Chromium here"
fi

mkdir -p "$out/pages"
cp "$root/tests/browser/package.json" "$root/tests/browser/package-lock.json" "$out/"
if ! cmp -s "$out/package-lock.json" "$out/node_modules/installed-lock.json"; then
    (cd "$out" && npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) ||
        skip "npm cannot install its packages (see $out/npm.log)"
    cp "$out/package-lock.json" "$out/node_modules/installed-lock.json"
fi
cp "$root/tests/browser/check.mjs" "$out/"

cd "$root"
isofactor=$target/debug/isofactor
[ -x "$isofactor" ] || cargo build --quiet --locked
pages=$out/pages
"$isofactor" demo --out "$pages/demo" >/dev/null 2>&1
cp "$pages/demo/demo.html" "$pages/demo.html"
# Algorithm 1, on entries whose names try to break out of the page.
"$isofactor" generate --rows 40 --columns 30 --rank 2 --observed 900 --out "$pages/panel.csv" 2>/dev/null
awk -F, -v OFS=, 'NR > 1 {
    $1 = "\"</script><img src=x onerror=window.hacked=1>" $1 "\""
    $2 = "\"'"'"'><svg onload=window.hacked=1> & " $2 "\""
} { print }' "$pages/panel.csv" >"$pages/hostile.csv"
"$isofactor" fit "$pages/hostile.csv" --solver bcd --rank 2 --iterations 60 --holdout 0.2 \
    --out "$pages/hostile.isofactor" --report "$pages/hostile.html" >/dev/null 2>&1
"$isofactor" report "$pages/hostile.isofactor" "$pages/hostile.csv" --out "$pages/report.html" 2>/dev/null

node "$out/check.mjs" "$chromium" "$out/shots" \
    "$pages/demo.html" "$pages/hostile.html" "$pages/report.html" "$@"
