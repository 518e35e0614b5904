// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/system/owned"
)

// maxBreakpointFile bounds what is read of the file, in bytes: each of the breakpoints is bounded.
const maxBreakpointFile = 256 << 10

// breakpointFile keeps the breakpoints that users set while the control plane runs for the next one. Those of its
// start are not kept: whoever starts it gives them again, or not.
type breakpointFile struct {
	path   string // empty for none
	store  *store.Store
	logger *slog.Logger

	mu      sync.Mutex // one write at a time, each of the newest
	atStart []*deckv1.Breakpoint
}

// newBreakpointFile keeps them next to the history, if one is kept.
func newBreakpointFile(history string, s *store.Store, logger *slog.Logger) *breakpointFile {
	f := &breakpointFile{store: s, logger: logger}
	if history != "" {
		f.path = history + ".breakpoints"
	}
	return f
}

// begin sets the breakpoints of this start and those that are kept, and keeps the changes from then on.
func (f *breakpointFile) begin(atStart []*deckv1.Breakpoint) error {
	f.atStart = atStart
	if _, err := f.store.ChangeBreakpoints(false, nil, atStart); err != nil {
		return err
	}
	if f.path == "" {
		return nil
	}
	if _, err := f.store.ChangeBreakpoints(false, nil, f.read()); err != nil {
		f.logger.Warn("breakpoints of the last run are not set again", "error", err)
	}
	f.store.OnBreakpoints(f.write)
	return nil
}

func (f *breakpointFile) read() []*deckv1.Breakpoint {
	data, err := owned.ReadFile(f.path, maxBreakpointFile)
	kept := &deckv1.ChangeBreakpointsResponse{}
	if err == nil {
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, kept)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.logger.Warn("breakpoints of the last run are not known", "error", err)
	}
	if err != nil {
		return nil
	}
	return kept.GetBreakpoints()
}

// write keeps what is set now.
func (f *breakpointFile) write() {
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := &deckv1.ChangeBreakpointsResponse{}
	for _, one := range f.store.Environment.Breakpoints() {
		if !slices.ContainsFunc(f.atStart, func(b *deckv1.Breakpoint) bool { return proto.Equal(b, one) }) {
			kept.Breakpoints = append(kept.Breakpoints, one)
		}
	}
	data, err := protojson.Marshal(kept)
	if err == nil {
		err = os.WriteFile(f.path+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(f.path+".new", f.path)
	}
	if err != nil {
		f.logger.Warn("breakpoints are not kept for the next run", "error", err)
	}
}
