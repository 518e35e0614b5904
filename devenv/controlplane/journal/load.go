// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// damage is what is wrong with a file that was read.
type damage struct {
	// suffix is how the name of the file goes on under which it is kept.
	suffix string
	// missing says what is lost, for users.
	missing string
	// gone says that there is no file to keep. A note takes its place.
	gone bool
}

// suffixMissing names the notes about a history that is gone.
const suffixMissing = "missing"

// sign is the path of a file that stays once a history was written, so that a history that is gone is noticed. Its name
// begins with a dot: "rm *" in the directory leaves it.
func (j *Journal) sign() string {
	return filepath.Join(filepath.Dir(j.o.Path), "."+filepath.Base(j.o.Path)+"-written")
}

// deleted is the damage of a history that is gone although one was written; nil when none was ever written.
func (j *Journal) deleted() *damage {
	if !j.disk.exists(j.sign()) {
		return nil
	}
	j.o.Logger.Error("the history is gone", "file", j.o.Path)
	return &damage{suffixMissing, fmt.Sprintf(
		"the history %s is gone: it was deleted or moved; missing: all deployments, logs, events and commands "+
			"before %s; "+
			"the applications are deployed again", j.o.Path, time.Now().Format(time.DateTime)), true}
}

// load reads the file and restores the state from it.
func (j *Journal) load() error {
	data, f, err := j.disk.read(j.o.Path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		j.lost.absent, j.replace, j.lost.damage = true, true, j.deleted()
	case err != nil:
		return err
	default:
		j.restore(data, f)
	}
	if j.replace && f != nil {
		_ = f.Close() // nothing was written
	}
	j.mu.Lock()
	j.loaded = true
	j.announce()
	j.mu.Unlock()
	j.o.State.Restored()
	if j.lost.damage == nil { // otherwise the damaged file is kept first
		j.checkLosses()
	}
	return nil
}

// restore takes the records of a file. Records are added to the file unless it has to be replaced.
func (j *Journal) restore(data []byte, f file) {
	if bytes.HasPrefix(data, []byte(magicOne)) {
		j.restoreOne(data)
		return
	}
	s, ours := scanFile(data, j.restoreRecord)
	switch {
	case !ours:
		j.lost.damage = &damage{"unknown",
			"the history was not written by this version of pipedeck, or its start is damaged; missing: all of it",
			false}
	case s.damaged:
		j.lost.damage = &damage{"damaged", j.missing(s), false}
	case !s.torn && f != nil && j.reuse(f, s, len(data)):
		return
	}
	j.replace = true
}

// reuse has records added to a file that was read.
func (j *Journal) reuse(f file, s *scan, size int) bool {
	if s.end < size {
		j.o.Logger.Info("the last record of the history was not written to its end", "file", j.o.Path, "bytes",
			size-s.end)
		if f.Truncate(int64(s.end)) != nil {
			return false
		}
	}
	if f.SeekEnd() != nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.file, j.size = f, int64(s.end)
	j.number, j.rewriteAt = s.last, max(smallest, j.size/2*3)
	return true
}

func (j *Journal) restoreRecord(body []byte) bool {
	r, err := decode(body)
	if err != nil {
		return false
	}
	if r.Kind == loss {
		j.lost.records = append(j.lost.records, r)
		return true
	}
	if err := j.o.State.Restore(r); err != nil {
		j.o.Logger.Warn("a record of the history makes no sense", "record", r.String(), "error", err)
		return false
	}
	return true
}

// nothingMissing is said of damage that hit only records which later ones replace.
const nothingMissing = "the history was damaged, but nothing is missing"

// maxNames bounds how many lost objects are named to users; the log names all.
const maxNames = 5

// missing gives the state the objects that are lost, and says it for users.
func (j *Journal) missing(s *scan) string {
	identities, unknown, replaced := s.lost()
	var names []string
	for _, key := range identities {
		name := j.o.State.Lost(identified(key))
		j.o.Logger.Error("an object of the history is lost", "object", name)
		if len(names) < maxNames {
			names = append(names, name)
		}
	}
	if more := len(identities) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more objects", more))
	}
	if unknown > 0 {
		names = append(names, fmt.Sprintf("%d records of unknown objects", unknown))
	}
	j.o.Logger.Error("the history is damaged", "file", j.o.Path, "lost", len(identities), "unknown", unknown,
		"replaced", replaced, "whole", s.records)
	if len(names) == 0 {
		return nothingMissing
	}
	return "the history is damaged; missing: " + strings.Join(names, ", ")
}

// keepDamaged keeps the damaged file under a name that was never used, before it is replaced.
func (j *Journal) keepDamaged() error {
	if j.lost.damage == nil {
		return nil
	}
	kept, err := j.keepEvidence()
	if err != nil {
		j.checkLosses()
		return fmt.Errorf("keep the damaged history under another name: %w", err)
	}
	j.lost.records = append(j.lost.records,
		Record{Kind: loss, ID: kept, Name: j.lost.damage.missing, Created: time.Now()})
	j.lost.damage = nil
	j.checkLosses()
	return nil
}

// keepOther keeps a file that has come into the place of the history since that was read or written: users may have put
// their history back.
func (j *Journal) keepOther() error {
	if j.file == nil && !j.lost.absent || j.file != nil && j.disk.same(j.file, j.o.Path) {
		return nil
	}
	data, f, err := j.disk.read(j.o.Path)
	if f != nil {
		_ = f.Close()
	}
	if err != nil || len(data) == 0 {
		return nil // what is not a file of this user holds no history
	}
	kept, err := j.disk.aside(j.o.Path, "other")
	if err != nil {
		return fmt.Errorf("keep the file in the place of the history under another name: %w", err)
	}
	const missing = "another file was put in the place of the history while the environment ran; it is not read"
	j.o.Logger.Error(missing, "file", j.o.Path, "kept", kept)
	j.lost.records = append(j.lost.records, Record{Kind: loss, ID: kept, Name: missing, Created: time.Now()})
	j.checkLosses()
	return nil
}

// keepEvidence returns the file that stays until users accept the loss.
func (j *Journal) keepEvidence() (path string, err error) {
	if j.lost.damage.gone {
		return j.disk.note(j.o.Path, j.lost.damage.suffix,
			j.lost.damage.missing+"\nTo accept the loss, remove this file.\n")
	}
	return j.disk.aside(j.o.Path, j.lost.damage.suffix)
}

// checkLosses reports what is missing for as long as users have not moved the damaged files away.
func (j *Journal) checkLosses() {
	var missing, files []string
	accept := "no object is lost; remove the damaged file with: rm "
	present := j.lost.records[:0]
	for _, r := range j.lost.records {
		if !j.disk.exists(r.ID) {
			continue
		}
		present, files = append(present, r), append(files, r.ID)
		text := r.Name
		if text != nothingMissing {
			accept = "check what is missing; then accept the loss with: rm "
		}
		if !strings.HasPrefix(r.ID, j.o.Path+"."+suffixMissing) {
			text += "; the file is kept: " + r.ID
		}
		missing = append(missing, text)
	}
	if len(present) < len(j.lost.records) { // the new file need not hold them
		j.lost.records, j.replace = present, true
		j.notify()
	}
	var problem Problem
	switch list := strings.Join(files, " "); {
	case j.lost.damage != nil && j.lost.damage.gone: // and nothing could be written yet
		problem = Problem{Reason: j.lost.damage.missing, NextStep: "have the history written again first"}
	case j.lost.damage != nil: // and the file could not be kept under another name yet
		problem = Problem{Reason: j.lost.damage.missing,
			NextStep: "have the history written again first; the damaged file is " + j.o.Path}
	case len(files) > 0:
		problem = Problem{
			Reason:   strings.Join(missing, "; "),
			NextStep: accept + list,
		}
	}
	if problem == j.lost.reported {
		return
	}
	j.lost.reported = problem
	if problem == (Problem{}) {
		j.o.Problem(Damage, nil)
	} else {
		j.o.Problem(Damage, &problem)
	}
}
