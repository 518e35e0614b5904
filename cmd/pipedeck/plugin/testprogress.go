// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk/conformance"
)

// progressEvery is how often a test that takes longer than progressAfter says how far it is.
const (
	progressAfter = time.Second
	progressEvery = 5 * time.Second
)

// testProgress says how far a test is, from its first second on.
type testProgress struct {
	total int
	to    io.Writer
	stop  chan struct{}
	ended sync.WaitGroup

	mu      sync.Mutex
	over    int
	running map[string]bool
}

func newTestProgress(total int, to io.Writer) *testProgress {
	p := &testProgress{total: total, to: to, stop: make(chan struct{}), running: map[string]bool{}}
	p.ended.Go(p.run)
	return p
}

func (p *testProgress) run() {
	timer := time.NewTimer(progressAfter)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			fmt.Fprintln(p.to, p.words())
			timer.Reset(progressEvery)
		case <-p.stop:
			return
		}
	}
}

func (p *testProgress) words() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("%d of %d cases, now: %s", p.over, p.total,
		strings.Join(slices.Sorted(maps.Keys(p.running)), ", "))
}

func (p *testProgress) begun(c conformance.Case) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[c.ID] = true
}

func (p *testProgress) done(r conformance.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, r.ID)
	p.over++
}

// end returns once nothing more is written.
func (p *testProgress) end() {
	close(p.stop)
	p.ended.Wait()
}
