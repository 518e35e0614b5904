// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugincalls

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strconv"
	"sync"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// maxBytes bounds what all plugins together use, and maxPluginBytes what one may.
	maxBytes       = 16 << 20
	maxPluginBytes = 4 << 20
	// overhead is what an entry uses besides its texts and messages.
	overhead = 640
)

// Lanes keep one kind of calls from pushing out another.
const (
	ofDeployments = iota
	ofOthers
	// ofRepeated are calls that piped makes again and again while nothing happens.
	ofRepeated
	lanes
)

// laneEntries bounds the calls of each lane, and laneShare is its part of a plugin's bytes, in 16ths.
var (
	laneEntries = [lanes]int{1500, 400, 20}
	laneShare   = [lanes]int{11, 4, 1}
)

// Options of a Log.
type Options struct {
	// Plugins is how many plugins share the bytes.
	Plugins int
	// Mask hides secret values in a text; nil hides none.
	Mask func(string) string
	// Clock is the system's when nil.
	Clock clock.Clock
	// Off keeps no call, to measure what it costs to keep them.
	Off bool
}

// Variable is the environment variable that keeps no calls when it is "off". It is for benchmarks.
const Variable = "PIPED_PLUGIN_CALLS"

// Log holds the last calls. Its methods may be called from any goroutine.
type Log struct {
	options Options
	// run begins the ids of calls: a call of an earlier piped is never taken for one of this piped.
	run string

	mu      sync.Mutex
	count   uint64        // of calls
	version uint64        // of the last change
	changed chan struct{} // nil while no one waits
	plugins map[string]*[lanes]lane
	// stages are those that a plugin executes now, by their ids.
	stages map[string]execution
	// rerun are the deployments of the last stages that were re-run, oldest first.
	rerun []string
}

// New creates an empty Log.
func New(options Options) *Log {
	if options.Mask == nil {
		options.Mask = func(text string) string { return text }
	}
	if options.Clock == nil {
		options.Clock = clock.System{}
	}
	run := make([]byte, 2)
	_, _ = rand.Read(run) // never fails
	return &Log{options: options, run: hex.EncodeToString(run),
		plugins: map[string]*[lanes]lane{}, stages: map[string]execution{}}
}

// entry is a call. From its begin on it is guarded by the lock of its Log; the data of messages never changes.
type entry struct {
	number, version uint64
	lane            int
	began           time.Time
	took            time.Duration
	running, gone   bool
	failed          bool
	streamed, rerun bool
	direction       agentv1.PluginCall_Direction
	caller
	method            string
	code, detail      string
	request, response message
}

// caller is the plugin of a call and what it is about.
type caller struct {
	plugin, build                  string
	deployment, stageID, stageName string
}

// bytes is what an entry counts.
func (e *entry) bytes() int {
	return overhead + len(e.detail) + len(e.request.data) + len(e.response.data)
}

// execution is a stage that a plugin executes.
type execution struct{ plugin, name string }

// nameOf is the type of a stage that has ended; empty when no call to execute it is kept.
func (of *lane) nameOf(stageID string) string {
	for _, e := range slices.Backward(of.entries) {
		if e.stageID == stageID && e.stageName != "" {
			return e.stageName
		}
	}
	return ""
}

// lane is a bounded queue of calls.
type lane struct {
	entries []*entry
	bytes   int
}

// begin keeps a call that has begun.
func (l *Log) begin(e *entry) {
	e.running, e.began, e.lane = true, l.options.Clock.Now(), laneOf(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.plugin == "" {
		e.plugin = l.stages[e.stageID].plugin
	}
	l.noteRerun(e)
	l.count++
	e.number = l.count
	to := l.lane(e)
	switch {
	case executes(e.method):
		l.stages[e.stageID] = execution{e.plugin, e.stageName}
	case e.stageID != "":
		if e.stageName = l.stages[e.stageID].name; e.stageName == "" {
			e.stageName = to.nameOf(e.stageID)
		}
	}
	to.entries = append(to.entries, e)
	to.bytes += e.bytes()
	l.trim(e.lane, to)
	l.notify(e)
}

// end completes a call.
func (l *Log) end(e *entry, change func()) {
	took := l.options.Clock.Now().Sub(e.began)
	l.mu.Lock()
	defer l.mu.Unlock()
	if executes(e.method) && l.stages[e.stageID].plugin == e.plugin {
		delete(l.stages, e.stageID)
	}
	before := e.bytes()
	change()
	e.took, e.running = took, false
	if e.gone {
		return
	}
	to := l.lane(e)
	to.bytes += e.bytes() - before
	l.trim(e.lane, to)
	l.notify(e)
}

// lane returns where an entry is kept; l.mu is held.
func (l *Log) lane(e *entry) *lane {
	of := l.plugins[e.plugin]
	if of == nil {
		of = &[lanes]lane{}
		l.plugins[e.plugin] = of
	}
	return &of[e.lane]
}

// trim removes the oldest calls that have ended while the lane is over its bounds. Of calls that run, only the messages
// go. l.mu is held.
func (l *Log) trim(kind int, of *lane) {
	limit := min(maxPluginBytes, maxBytes/(l.options.Plugins+1)) * laneShare[kind] / 16
	for len(of.entries) > laneEntries[kind] || of.bytes > limit {
		oldest := slices.IndexFunc(of.entries, func(e *entry) bool { return !e.running })
		if oldest < 0 {
			if oldest = of.heaviest(); oldest < 0 {
				return // nothing but short calls that run
			}
			of.bytes -= of.entries[oldest].strip()
			continue
		}
		gone := of.entries[oldest]
		gone.gone = true
		of.bytes -= gone.bytes()
		of.remove(oldest)
	}
}

// remove deletes an entry. Most often that is the first one: a full lane loses one with each call, so the others stay
// where they are.
func (of *lane) remove(i int) {
	if i > 0 {
		of.entries = slices.Delete(of.entries, i, i+1)
		return
	}
	of.entries[0] = nil
	of.entries = of.entries[1:]
}

// heaviest returns the place of the first call with a message; -1 for none.
func (of *lane) heaviest() int {
	return slices.IndexFunc(of.entries, func(e *entry) bool { return len(e.request.data)+len(e.response.data) > 0 })
}

// strip forgets the messages of a call and returns their bytes.
func (e *entry) strip() (bytes int) {
	bytes = len(e.request.data) + len(e.response.data)
	e.request.data, e.request.clipped = nil, true
	e.response.data, e.response.clipped = nil, true
	return bytes
}

// notify wakes those who follow; l.mu is held.
func (l *Log) notify(e *entry) {
	l.version++
	e.version = l.version
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// id is how users name a call.
func (l *Log) id(e *entry) string { return l.run + "-" + strconv.FormatUint(e.number, 10) }
