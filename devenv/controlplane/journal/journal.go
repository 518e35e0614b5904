// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/system/clock"
)

// State is what a journal keeps. No method is called while a method of the journal runs that State called.
type State interface {
	// Restore takes one record of the file, in their order, and copies what it keeps of the record. An error says that
	// the record makes no sense.
	Restore(Record) error
	// Lost says that the newest record of an object is missing. It returns a name of the object for users.
	Lost(Record) string
	// Restored is called once, after the records of the file.
	Restored()
	// Kept emits all objects that a file should hold. No record is appended before it returns.
	Kept(emit func(Record))
}

// Problem is why the state is not kept, or what is missing of it.
type Problem struct {
	Reason, NextStep string
	// Full says that the disk has no space left.
	Full bool
}

// Error joins the reason and the next step.
func (p *Problem) Error() string { return p.Reason + "\nnext step: " + p.NextStep }

// Subject says what a problem is about; each has at most one problem at a time.
type Subject int

// Writing problems last until the state is kept again; Damage lasts until users have moved the damaged files away.
const (
	Writing Subject = iota
	Damage
)

// Options say what a journal needs.
type Options struct {
	Path  string
	State State
	// Problem is called, by one goroutine at a time, when a problem has come, changed or gone (nil). Nil ignores them.
	Problem func(Subject, *Problem)
	Logger  *slog.Logger
}

const (
	// A file is rewritten when it has grown to twice what it was after the last time, and to this.
	smallest = 8 << 20
	// The back-off of a file that cannot be read or written.
	firstRetry, lastRetry = 200 * time.Millisecond, 5 * time.Second
	// How often it is looked whether damaged files are still there, and the history is still in its place.
	damageCheck = 5 * time.Second
)

// Journal is one file. Use Open, then Run once; the other methods may be called by any goroutine at any time.
type Journal struct {
	o    Options
	disk disk
	wake chan struct{} // holds a token when there is something to do

	mu    sync.Mutex
	queue queue
	// The number of records that are kept since the start.
	kept    uint64
	failure *Problem
	loaded  bool
	size    int64
	changed chan struct{} // closed when kept, failure or loaded change

	// Of Run's goroutine, and of Open before it.
	retries   *clock.Backoff
	file      file
	number    uint64 // of the last record of the file
	rewriteAt int64
	// replace: the file is replaced at the next step.
	replace bool
	// signed says that the sign of a written history is there.
	signed bool
	lost   losses
	// group is the memory of a group that was written, for the next one.
	group []byte
}

// losses are what is missing of the state because the file was damaged.
type losses struct {
	// damage is that of the file, until the file is kept under another name; nil for none.
	damage *damage
	// records say what is missing, one for each damaged file that users have not moved away yet.
	records []Record
	// reported is what was reported last.
	reported Problem
	// absent is set when there was no history to read.
	absent bool
}

// Open reads the file and restores the state from it. A file that cannot be read is read later by Run; until then Ready
// says why.
func Open(o Options) *Journal { return open(o, realDisk{}) }

func open(o Options, d disk) *Journal {
	if o.Problem == nil {
		o.Problem = func(Subject, *Problem) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	j := &Journal{o: o, disk: d, wake: make(chan struct{}, 1), changed: make(chan struct{}),
		retries: clock.NewBackoff(firstRetry, lastRetry)}
	j.step()
	return j
}

// Append queues a record. Run keeps it; Wait says when.
func (j *Journal) Append(r Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.queue.add(&r, j.failure != nil) {
		j.notify()
	}
}

// Replace has the file replaced by a snapshot soon.
func (j *Journal) Replace() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.queue.drop()
	j.notify()
}

func (j *Journal) notify() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// Ready returns the problem because of which nothing can be kept at present, or nil.
func (j *Journal) Ready() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.problem()
}

// Loaded says whether the file has been read.
func (j *Journal) Loaded() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.loaded
}

// problem is the failure as an error. The caller holds j.mu.
func (j *Journal) problem() error {
	if j.failure == nil {
		return nil
	}
	return j.failure
}

// Wait returns when everything is kept that was appended before. The error is a *Problem when that is not possible at
// present, or the context's.
func (j *Journal) Wait(ctx context.Context) error {
	j.mu.Lock()
	number := j.queue.appended
	for {
		if j.kept >= number {
			j.mu.Unlock()
			return nil
		}
		if err := j.problem(); err != nil {
			j.mu.Unlock()
			return err
		}
		changed := j.changed
		j.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
		j.mu.Lock()
	}
}

// Size is that of the file in bytes.
func (j *Journal) Size() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size
}

// announce wakes those who wait. The caller holds j.mu.
func (j *Journal) announce() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// Run keeps what is appended until ctx ends. Then it keeps the rest and closes the file; its error says that some is
// missing.
func (j *Journal) Run(ctx context.Context) error {
	retry := time.NewTimer(0)
	defer retry.Stop()
	check := time.NewTicker(damageCheck)
	defer check.Stop()
	for {
		select {
		case <-j.wake:
			if j.Ready() != nil {
				continue // until it is tried again
			}
		case <-retry.C:
		case <-check.C:
			j.checkLosses()
			if j.Ready() != nil || j.file == nil || j.disk.same(j.file, j.o.Path) {
				continue
			}
		case <-ctx.Done():
			j.step()
			return j.close()
		}
		j.step()
		if j.Ready() != nil {
			retry.Reset(j.retries.Next())
		}
	}
}

func (j *Journal) close() error {
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	if problem := j.Ready(); problem != nil {
		err = problem
	}
	return err
}
