#!/bin/sh
# Made these certificates: an authority, and what it signed for one key. Run again, it replaces them all; the authority's
# own key is not kept.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
touch "$work/index"
cat > "$work/config" <<END
[ca]
default_ca = authority
[authority]
database = $work/index
new_certs_dir = $work
rand_serial = yes
unique_subject = no
default_md = sha256
policy = policy
copy_extensions = copy
[policy]
commonName = supplied
[req]
distinguished_name = name
[name]
END
key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }
# Signs: file, first day, last day, names.
leaf() {
  openssl req -new -config "$work/config" -key key.pem -subj /CN=endpoint -addext "subjectAltName=$4" -out "$work/request"
  openssl ca -batch -notext -config "$work/config" -keyfile "$work/key" -cert authority.pem -in "$work/request" \
    -startdate "$2000000Z" -enddate "$3000000Z" -out "$1"
}
key "$work/key"
key key.pem
openssl req -new -config "$work/config" -key "$work/key" -subj '/CN=authority of the tests' -out "$work/request" \
  -addext basicConstraints=critical,CA:TRUE
openssl ca -batch -notext -config "$work/config" -selfsign -keyfile "$work/key" -in "$work/request" \
  -startdate 20200101000000Z -enddate 21200101000000Z -out authority.pem
here=DNS:localhost,IP:127.0.0.1
openssl req -x509 -new -key key.pem -subj /CN=endpoint -addext "subjectAltName=$here" -days 36500 -out self-signed.pem
leaf valid.pem 20200101 21200101 "$here,DNS:*.example.com"
leaf expired.pem 20200101 20210101 "$here"
leaf not-yet-valid.pem 21000101 21200101 "$here"
leaf other-host.pem 20200101 21200101 DNS:other.example.com
# A certificate that an intermediate authority signed, followed by that of the intermediate authority.
key "$work/intermediate-key"
openssl req -new -config "$work/config" -key "$work/intermediate-key" -subj '/CN=intermediate authority of the tests' \
  -addext basicConstraints=critical,CA:TRUE -out "$work/request"
openssl ca -batch -notext -config "$work/config" -keyfile "$work/key" -cert authority.pem -in "$work/request" \
  -startdate 20200101000000Z -enddate 21200101000000Z -out "$work/intermediate"
openssl req -new -config "$work/config" -key key.pem -subj /CN=endpoint -addext "subjectAltName=$here" -out "$work/request"
openssl ca -batch -notext -config "$work/config" -keyfile "$work/intermediate-key" -cert "$work/intermediate" \
  -in "$work/request" -startdate 20200101000000Z -enddate 21200101000000Z -out "$work/leaf"
cat "$work/leaf" "$work/intermediate" > chain.pem
