// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/pipedeck/pipedeck/tui/keymap"
)

// Guest is a user who watches from another machine. The UI of a guest changes nothing, and starts, reads and writes
// nothing on this machine: only the actions of keymap.Watching have keys, and the parts of Config with which the UI
// acts here are not used. Signals of this process are left to its owner.
type Guest struct {
	// Size is that of the guest's terminal, Sizes are the later ones.
	Size  Size
	Sizes <-chan Size
}

// Size is that of a terminal, in columns and lines.
type Size struct{ Width, Height int }

// guestReason is why a guest changes nothing.
const guestReason = "you are watching"

// completed is the configuration with what was left out.
func (c Config) completed() Config {
	if c.Guest != nil {
		c = c.withoutHost()
	}
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	if c.Commander == "" {
		c.Commander = lookup(c.Environ, "USER", "unknown user")
	}
	return c
}

// interrupted returns a context that ends by a signal of this process; that of a guest is left to its owner.
func (c Config) interrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Guest != nil {
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
}

// withoutHost is the configuration for a guest: without anything that acts on this machine. Environ is of the guest's
// terminal alone.
func (c Config) withoutHost() Config {
	c.ReadOnly = cmp.Or(c.ReadOnly, guestReason)
	c.Flags, c.Command, c.Manifests, c.Files, c.Share, c.Guide = "", nil, nil, Files{}, nil, nil
	c.Keys, c.Commander = keymap.File{}, "guest"
	if c.Environ == nil {
		c.Environ = []string{}
	}
	return c
}

// guestOptions are those of a terminal that is not this machine's: nothing about it is asked of the operating system.
func guestOptions(cfg Config) []tea.ProgramOption {
	if cfg.Guest == nil {
		return nil
	}
	return []tea.ProgramOption{tea.WithColorProfile(colorprofile.Env(cfg.Environ)),
		tea.WithWindowSize(cfg.Guest.Size.Width, cfg.Guest.Size.Height)}
}

// passSizes passes on the sizes of the guest's terminal until ctx ends.
func (g *Guest) passSizes(ctx context.Context, send func(tea.Msg)) {
	for {
		select {
		case size, open := <-g.Sizes:
			if !open {
				return
			}
			send(tea.WindowSizeMsg{Width: size.Width, Height: size.Height})
		case <-ctx.Done():
			return
		}
	}
}

// keysFor are the keys of a user: a guest moves no session and goes on with no story.
func keysFor(cfg Config, keys keymap.Map) keymap.Map {
	if cfg.Guest != nil {
		return keys.Watching()
	}
	if cfg.Playback != nil {
		keys = keys.Playback()
	}
	if cfg.Guide != nil && cfg.Guide.Next != nil { // otherwise no key goes on
		keys = keys.Guided()
	}
	return keys
}
