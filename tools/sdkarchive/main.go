// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command sdkarchive writes the archive that `pipedeck plugin new` takes the SDK from: what a new plugin is built and
// tested with, so that it needs no clone, no network and no module cache.
//
//	sdkarchive -root . -output cmd/pipedeck/scaffold/archive/files/sdk.tar.gz
//
// The archive holds the SDK and the contracts as two modules in third_party/pipedeck, everything that is compiled in
// vendor/, and the go.mod and go.sum that go with them. It has the packages that are linked, for the systems that
// pipedeck runs on, without tests, and with their licences.
//
// The same sources give the same bytes. A file that holds them already is left as it is.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the repository")
	output := flag.String("output", "", "the archive (required)")
	flag.Parse()
	if err := run(*root, *output); err != nil {
		fmt.Fprintln(os.Stderr, "sdkarchive:", err)
		os.Exit(1)
	}
}

func run(root, output string) error {
	if output == "" {
		return errors.New("name the archive with -output")
	}
	packages, err := list(root)
	if err != nil {
		return err
	}
	files, err := collect(root, packages)
	if err != nil {
		return err
	}
	content, err := tarOf(files)
	if err != nil {
		return err
	}
	digest := digestOf(content)
	if holds(output, digest) {
		return nil // its time stays, too
	}
	packed, err := compress(content, digest)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return err
	}
	return replace(output, packed)
}

// replace writes a file in one step: two builds may do so at the same time, and a third one may embed the folder. The
// go command does not embed files whose names begin with a dot.
func replace(path string, content []byte) error {
	next, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(next.Name()) // fails after the rename, as it should
	_, err = next.Write(content)
	if err := errors.Join(err, next.Chmod(0o644), next.Close()); err != nil {
		return err
	}
	return os.Rename(next.Name(), path)
}
