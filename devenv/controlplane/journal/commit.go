// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bufio"
	"errors"
)

// step does what there is to do: it reads the file, replaces it or adds to it. A failure is reported, and Run tries
// again after a while.
func (j *Journal) step() {
	if err := j.try(); err != nil {
		j.failed(err)
		return
	}
	j.succeeded()
}

func (j *Journal) try() error {
	if !j.loaded { // only this goroutine writes it
		if err := j.load(); err != nil {
			return err
		}
	}
	if err := j.save(); err != nil {
		return err
	}
	return j.signWritten()
}

// save brings all that was appended to the disk.
func (j *Journal) save() error {
	if j.replaceDue() {
		return j.rewrite()
	}
	if j.size >= j.rewriteAt {
		if err := j.rewrite(); err == nil {
			return nil
		} else {
			j.o.Logger.Warn("cannot replace the history by a smaller one yet", "file", j.o.Path, "error", err)
			j.rewriteAt = j.size + j.size/4
		}
	}
	return j.commit()
}

// signWritten leaves the sign that a history was written, once.
func (j *Journal) signWritten() error {
	if j.signed {
		return nil
	}
	if err := j.disk.sign(j.sign()); err != nil {
		return err
	}
	j.signed = true
	return nil
}

func (j *Journal) replaceDue() bool {
	j.mu.Lock()
	incomplete := j.queue.incomplete
	j.mu.Unlock()
	if incomplete || j.replace || j.file == nil {
		return true
	}
	if !j.disk.same(j.file, j.o.Path) {
		j.o.Logger.Warn("the history has disappeared and is written again", "file", j.o.Path)
		return true
	}
	return false
}

// commit adds what is queued to the file, as one group.
func (j *Journal) commit() error {
	j.mu.Lock()
	number := j.queue.appended
	group, ends := j.queue.take(j.group)
	j.group = nil
	j.mu.Unlock()
	if len(ends) == 0 {
		return nil
	}
	last := j.number
	for i, end := range ends {
		last++
		start := 0
		if i > 0 {
			start = ends[i-1]
		}
		seal(group[start:end], last)
	}
	if err := j.write(group, last); err != nil {
		j.replace = true // what the file holds now is not known
		return err
	}
	j.number = last
	if cap(group) <= 1<<20 {
		j.group = group
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.size += int64(len(group))
	j.kept = number
	j.announce()
	return nil
}

// write brings a group to the disk before the header says that it is there.
func (j *Journal) write(group []byte, last uint64) error {
	if _, err := j.file.Write(group); err != nil {
		_ = j.file.Truncate(j.size) // gives the space back; a reader would ignore it
		return err
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	_, err := j.file.WriteAt(appendSynced(nil, last), int64(len(magic)))
	return err
}

// rewrite replaces the file by a snapshot of the state.
func (j *Journal) rewrite() (err error) {
	if err := j.keepDamaged(); err != nil {
		return err
	}
	if err := j.keepOther(); err != nil {
		return err
	}
	next, err := j.disk.create(j.o.Path + ".new")
	if err != nil {
		return err
	}
	covered := j.cover()
	defer func() {
		if err != nil {
			j.uncover(covered)
			err = errors.Join(err, next.Close(), j.disk.remove(j.o.Path+".new"))
		}
	}()
	first := true
	size, count, err := writeSnapshot(next, func(emit func(Record)) {
		for _, r := range j.lost.records {
			emit(r)
		}
		j.o.State.Kept(func(r Record) {
			if first { // nothing is appended from now until Kept returns
				covered, first = covered.and(j.cover()), false
			}
			emit(r)
		})
	})
	if err != nil {
		return err
	}
	if err := j.disk.rename(next, j.o.Path); err != nil {
		return err
	}
	if j.file != nil {
		_ = j.file.Close()
	}
	j.file, j.number, j.replace = next, count, false
	j.rewriteAt = max(smallest, 2*size)
	j.mu.Lock()
	j.size, j.kept = size, covered.number
	j.queue.forget(covered.queued)
	if len(j.queue.ends) > 0 {
		j.notify()
	}
	j.announce()
	j.mu.Unlock()
	return nil
}

// coverage is what a snapshot holds of what was appended: the records up to a number, of which some are queued and some
// were dropped.
type coverage struct {
	number  uint64
	queued  int
	dropped bool
}

func (c coverage) and(later coverage) coverage {
	later.dropped = later.dropped || c.dropped
	return later
}

// cover begins a snapshot of all that was appended until now.
func (j *Journal) cover() coverage {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := coverage{j.queue.appended, len(j.queue.ends), j.queue.incomplete}
	j.queue.incomplete = false
	return c
}

// uncover takes back what cover began.
func (j *Journal) uncover(c coverage) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if c.dropped {
		j.queue.drop()
		j.notify()
	}
}

// writeSnapshot writes a whole file and brings it to the disk.
func writeSnapshot(f file, all func(emit func(Record))) (size int64, count uint64, err error) {
	writer := bufio.NewWriterSize(f, 1<<20)
	_, err = writer.Write(appendHeader(nil, 0))
	size = int64(headerBytes)
	var frame []byte
	all(func(r Record) {
		if err != nil {
			return
		}
		count++
		frame = appendFrame(frame[:0], &r)
		seal(frame, count)
		size += int64(len(frame))
		_, err = writer.Write(frame)
	})
	if err = errors.Join(err, writer.Flush()); err != nil {
		return 0, 0, err
	}
	if _, err := f.WriteAt(appendSynced(nil, count), int64(len(magic))); err != nil {
		return 0, 0, err
	}
	return size, count, f.Sync()
}

func (j *Journal) failed(err error) {
	problem := j.explain(err)
	j.mu.Lock()
	j.queue.drop()
	before := j.failure
	j.failure = problem
	j.announce()
	j.mu.Unlock()
	if before == nil || *before != *problem {
		j.o.Logger.Error("the state of the control plane cannot be kept", "file", j.o.Path, "error", err)
		j.o.Problem(Writing, problem)
	}
}

func (j *Journal) succeeded() {
	j.mu.Lock()
	before := j.failure
	j.failure = nil
	if before != nil {
		j.announce()
	}
	j.mu.Unlock()
	j.retries.Reset()
	if before != nil {
		j.o.Logger.Info("the state of the control plane is kept again", "file", j.o.Path)
		j.o.Problem(Writing, nil)
	}
}
