#!/bin/sh
# Make configure and the Makefile templates; needs autoconf, automake, libtool, pkg-config.
set -e
cd "$(dirname "$0")"
mkdir -p m4
exec autoreconf --install --force
