// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the reference of the commands.
//
//	generate FILE                           the page docs/cli.md
//	generate -man DIR [-version V] [-date UNIX]   manual pages
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/reference"
)

func main() {
	manual := flag.String("man", "", "directory for manual pages")
	version := flag.String("version", "", "version on the manual pages")
	date := flag.Int64("date", 0, "date on the manual pages, in seconds since 1970")
	flag.Parse()
	if err := run(*manual, *version, time.Unix(*date, 0).UTC()); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(manual, version string, date time.Time) error {
	switch {
	case manual != "":
		return reference.Manual(reference.Tree(), manual, version, date)
	case flag.NArg() != 1:
		return errors.New("usage: generate FILE, or: generate -man DIR")
	}
	return os.WriteFile(flag.Arg(0), []byte(reference.Page(reference.Tree())), 0o644)
}
