#!/bin/sh
# Copyright 2026 The pipedeck Authors
# SPDX-License-Identifier: Apache-2.0

# A pipedeck that prints what a file of its directory says: printing.sh COMMAND DIRECTORY …
exec cat "$2/$1"
