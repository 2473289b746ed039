#!/bin/sh
# Downloads the packages of bench/languages with apt and unpacks the files that it reads, below FOLDER.
set -eu
[ $# = 1 ] || { echo "usage: corpus.sh FOLDER" >&2; exit 2; }
mkdir -p "$1" && cd "$1"
packages="gnome-user-docs installation-guide-amd64 maint-guide debian-faq manpages manpages-dev
  wesnoth-1.16-core wesnoth-1.16-did wesnoth-1.16-ei wesnoth-1.16-httt wesnoth-1.16-low wesnoth-1.16-sof wesnoth-1.16-utbs
  gnucash-common freeciv-data evolution-common vlc-l10n digikam-data inkscape gimp-data krita-l10n
  $(apt-cache pkgnames | grep -E '^(libreoffice-(help|l10n)|debian-reference|debian-faq|maint-guide)-[a-z]' |
    grep -v libreoffice-help-common)
  $(apt-cache pkgnames | grep -E '^manpages-[a-z][a-z](-br)?(-dev)?$')"
for package in $packages; do
  [ -d "$package" ] && continue
  apt-get download -q "$package" || continue
  mkdir "$package"
  dpkg-deb --fsys-tarfile "$package"_*.deb |
    tar -x -C "$package" --wildcards '*.mo' '*.html' '*.page' '*/man/*.gz' 2>/dev/null || true
  rm -f "$package"_*.deb
done
