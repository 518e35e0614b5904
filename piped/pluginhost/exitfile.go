// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protojson"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/system/owned"
)

// maxExitFile bounds what is read and written of the ends of a plugin, in bytes: stacks have the lengths of paths.
const maxExitFile = 256 << 10

// exitFile keeps the last ends of a plugin for the next piped, and only there: a plugin runs without it as well.
type exitFile struct {
	path   string // empty for none
	logger *slog.Logger
}

func newExitFile(dir, plugin string, logger *slog.Logger) exitFile {
	if dir == "" {
		return exitFile{}
	}
	return exitFile{path: filepath.Join(dir, fileName(plugin)+".json"), logger: logger}
}

// read returns the ends that earlier pipeds have kept, at most keptExits; none when they cannot be read.
func (f exitFile) read() []*agentv1.PluginExit {
	if f.path == "" {
		return nil
	}
	data, err := owned.ReadFile(f.path, maxExitFile)
	kept := &agentv1.Plugin{}
	if err == nil {
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, kept)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.logger.Warn("the last exits of the plugin are not known", "error", err)
	}
	if err != nil {
		return nil
	}
	exits := kept.GetExits()
	return exits[max(0, len(exits)-keptExits):]
}

// write replaces what is kept.
func (f exitFile) write(exits []*agentv1.PluginExit) {
	if f.path == "" {
		return
	}
	data, err := protojson.Marshal(&agentv1.Plugin{Exits: exits})
	for err == nil && len(data) > maxExitFile && len(exits) > 0 {
		exits = exits[1:]
		data, err = protojson.Marshal(&agentv1.Plugin{Exits: exits})
	}
	if err == nil {
		err = replaceFile(f.path, data)
	}
	if err != nil {
		f.logger.Warn("the last exits of the plugin are not kept", "error", err)
	}
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, ".new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(file.Name()))
	}
	return err
}
