// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/protocol"
)

const (
	// clonePath is the path of the module of a clone; the SDK and the contracts are modules in it.
	clonePath = "github.com/pipedeck/pipedeck"
	sdkPath   = clonePath + "/plugins/sdk"
	apiPath   = clonePath + "/api"
	// unpublished is the version by which the modules require each other in a clone.
	unpublished = "v0.0.0"
	// oldestGo is for a plugin whose SDK comes from somewhere else: go mod tidy writes the version that the SDK needs.
	oldestGo = "1.26.0"
	// tidyAndTest is for a plugin whose modules the go command has to resolve.
	tidyAndTest = "go mod tidy && go test ./..."
	// maxSources bounds the files that are unpacked, in bytes: the archive is part of this program.
	maxSources = 100 << 20
)

// sources are where a plugin takes the SDK from.
type sources interface {
	// write writes the go.mod of a module and what belongs to it.
	write(dir, module string) error
	// test is the command that tests the plugin.
	test() string
}

// file is one of an archive.
type file struct {
	name    string
	content []byte
}

// packed are the sources of the SDK and all that it needs.
type packed []file

func unpack(archive []byte) (packed, error) {
	files, err := readArchive(archive)
	if err != nil {
		return nil, damaged(fmt.Errorf("unpack the sources of the SDK: %w", err))
	}
	return files, nil
}

// damaged is an error of this program, not of the user.
func damaged(err error) error {
	return exit.With(exit.Failed, err, "install pipedeck again, or build it with: make build")
}

func readArchive(archive []byte) (files packed, err error) {
	compressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	known := map[string][]byte{}
	reader := tar.NewReader(io.LimitReader(compressed, maxSources))
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		content, linked := known[header.Linkname]
		switch {
		case !fs.ValidPath(header.Name):
			return nil, fmt.Errorf("%s is outside of the plugin", header.Name)
		case header.Typeflag == tar.TypeReg:
			if content, err = io.ReadAll(reader); err != nil {
				return nil, err
			}
			known[header.Name] = content
		case header.Typeflag != tar.TypeLink || !linked:
			return nil, fmt.Errorf("%s is neither a file nor a link to one before it", header.Name)
		}
		files = append(files, file{header.Name, content})
	}
}

func (packed) test() string { return "go test ./..." }

func (p packed) write(dir, module string) error {
	for _, f := range p {
		content := f.content
		if f.name == "go.mod" {
			named, err := modfile.Parse(f.name, content, nil)
			if err != nil {
				return err
			}
			if err := named.AddModuleStmt(module); err != nil {
				return err
			}
			if content, err = named.Format(); err != nil {
				return err
			}
		}
		if err := writeFile(dir, f.name, content); err != nil {
			return err
		}
	}
	return nil
}

// clone is the directory of one, for people who work on the SDK.
type clone string

func newClone(dir string) (clone, error) {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || modfile.ModulePath(data) != clonePath {
		return "", exit.Usage(fmt.Errorf("%s is not a clone of pipedeck: it has no go.mod of %s", dir, clonePath),
			"give the directory of the clone with --sdk")
	}
	return clone(dir), nil
}

func (clone) test() string { return tidyAndTest }

func (c clone) write(dir, module string) error {
	return writeModule(dir, module, unpublished, func(m *modfile.File) error {
		return errors.Join(m.AddReplace(apiPath, "", filepath.Join(string(c), "api"), ""),
			m.AddReplace(sdkPath, "", filepath.Join(string(c), "plugins", "sdk"), ""))
	})
}

// proxy is the version in which module proxies have the SDK.
type proxy string

func (proxy) test() string { return tidyAndTest }

func (p proxy) write(dir, module string) error {
	return writeModule(dir, module, string(p), func(*modfile.File) error { return nil })
}

// writeModule writes a go.mod that requires the SDK.
func writeModule(dir, module, version string, edit func(*modfile.File) error) error {
	m := &modfile.File{}
	err := errors.Join(m.AddModuleStmt(module), m.AddGoStmt(oldestGo), m.AddRequire(sdkPath, version), edit(m))
	if err != nil {
		return err
	}
	content, err := m.Format()
	if err != nil {
		return err
	}
	return writeFile(dir, "go.mod", content)
}

// protocolText is for plugins in another language, which need the protocol alone.
type protocolText struct {
	// command is how they are tested.
	command string
	// deploys says that they deploy.
	deploys bool
}

func (p protocolText) test() string { return p.command }

func (p protocolText) write(dir, _ string) error {
	text, err := protocol.Text(p.deploys)
	if err != nil {
		return fmt.Errorf("describe the protocol of plugins: %w", err)
	}
	return writeFile(dir, "protocol.json", text)
}
