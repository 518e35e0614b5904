// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/clip"
)

// maxScratch bounds the shared objects of one re-run, in bytes.
const maxScratch = 16 << 20

// Scratch takes what plugins report during a re-run of a stage, in place of the control plane. Its methods may be
// called from any goroutine.
type Scratch struct {
	application string
	log         func([]*model.LogBlock)

	mu sync.Mutex
	// last is the number of the last block: plugins repeat blocks at checkpoints.
	last int64
	// failure is the last entry of the log that is an error; empty for none.
	failure string
	put     int
	objects map[[2]string][]byte // by plugin and key
	size    int
	over    bool
}

// AddScratch makes a deployment known until remove is called, like Add. Metadata of it and shared objects of its
// application that plugins put are kept apart and forgotten then. Log blocks go to log, one call at a time. It fails
// while piped plans or runs the deployment.
func (r *Registry) AddScratch(
	d *model.Deployment, log func([]*model.LogBlock),
) (_ *Scratch, remove func(), err error) {
	entry := r.entry(d)
	s := &Scratch{application: d.GetApplicationId(), log: log, objects: map[[2]string][]byte{}}
	entry.scratch = s
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.deployments[d.GetId()] != nil {
		return nil, nil, fmt.Errorf("deployment %s is being planned or run", d.GetId())
	}
	r.deployments[d.GetId()] = entry
	removed := r.remover(d.GetId(), entry)
	return s, func() {
		s.close()
		removed()
	}, nil
}

// LastError returns the first line of the last error in the log, at most maxLastError bytes; empty for none.
func (s *Scratch) LastError() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	line, _, _ := strings.Cut(strings.TrimSpace(s.failure), "\n")
	return clip.Bytes(line, maxLastError)
}

// maxLastError bounds a line of a log that is shown as a reason, in bytes.
const maxLastError = 1 << 10

// Forgotten returns how many values of metadata and shared objects plugins have put.
func (s *Scratch) Forgotten() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put
}

// close drops what comes later: a plugin may write after the end of its stage.
func (s *Scratch) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	clear(s.objects)
}

func (s *Scratch) noteMetadata(values int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put += values
}

// Report takes blocks. It waits for log, so that a plugin writes no faster than they are read.
func (s *Scratch) Report(blocks []*model.LogBlock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var added []*model.LogBlock
	for _, block := range blocks {
		if block.GetIndex() > s.last || block.GetIndex() < ownLines {
			added = append(added, block)
			if block.GetSeverity() == model.LogSeverity_ERROR {
				s.failure = block.GetLog()
			}
		}
		s.last = max(s.last, block.GetIndex())
	}
	if len(added) > 0 && !s.over {
		s.log(added)
	}
}

// ownLines is above the numbers of piped's own lines in a log, which come once each, and below those of plugins.
const ownLines = 1 << 20

func (s *Scratch) object(plugin, key string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object, found := s.objects[[2]string{plugin, key}]
	return bytes.Clone(object), found
}

func (s *Scratch) putObject(plugin, key string, object []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := [2]string{plugin, key}
	if size := s.size + len(object) - len(s.objects[at]); size <= maxScratch {
		s.size, s.objects[at] = size, bytes.Clone(object)
		s.put++
		return nil
	}
	return status.Errorf(codes.ResourceExhausted, "a re-run keeps at most %d MiB of shared objects", maxScratch>>20)
}

// scratchOf returns where reports about a deployment go during a re-run of one of its stages, and after it; nil for the
// control plane.
func (r *Registry) scratchOf(deploymentID string) *Scratch {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.deployments[deploymentID]; d != nil {
		return d.scratch
	}
	if d := r.ended[deploymentID]; d != nil {
		return d.scratch
	}
	return nil
}

// scratchFor returns where the shared objects of an application go while a stage of the plugin is re-run; nil for the
// control plane.
func (r *Registry) scratchFor(application, plugin string) *Scratch {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.deployments {
		if d.scratch != nil && d.scratch.application == application && d.inHandsOf(plugin, "") {
			return d.scratch
		}
	}
	return nil
}
