// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/share"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

// keysVariable names the key file where --keys does not.
const keysVariable = "PIPEDECK_KEYS"

// look is how the user wants the terminal UI to look and to feel.
type look struct {
	keyFile string
	keys    keymap.File
	screen  screenFlags
	// environ are the environment variables of the UI, each "NAME=value".
	environ []string
	// recording of what the UI shows; nil for none. readOnly: the UI changes nothing.
	recording *recording
	readOnly  bool
	// sharing are the flags with which others may watch, shared is what serves them; nil for nothing.
	sharing share.Flags
	shared  *share.Share
}

// refusal is why the UI changes nothing; empty when it can.
func (l *look) refusal() string {
	if l.readOnly {
		return "it was opened with --read-only"
	}
	return ""
}

func (l *look) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.keyFile, "keys", "",
		"`FILE` with keys of the terminal UI; default $"+keysVariable+", then pipedeck/keys.yaml in the directory "+
			"of your configuration")
	l.screen.register(cmd)
	l.sharing.Bind(cmd)
}

// read reads what the terminal UI needs. Mistakes in the key file are shown there. Other outputs need nothing of it,
// but flags that cannot be right are wrong usage with them, too.
func (l *look) read(mode OutputMode) error {
	if mode != outputTUI {
		if l.keyFile != "" {
			if err := l.readKeys(); err != nil {
				return err
			}
		}
		return l.screen.check()
	}
	if err := l.screen.read(&l.environ); err != nil {
		return err
	}
	return l.readKeys()
}

func (l *look) readKeys() error {
	named := cmp.Or(l.keyFile, os.Getenv(keysVariable))
	path := named
	if path == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil // there is no place for such a file
		}
		path = filepath.Join(dir, "pipedeck", "keys.yaml")
	}
	file, err := keymap.Load(path)
	switch {
	case named == "" && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return exit.Usage(err, "name a key file that can be read with --keys, or move it away")
	}
	l.keys = file
	return nil
}
