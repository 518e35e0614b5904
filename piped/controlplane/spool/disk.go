// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
)

// Each report is a separate file, named for its number, so that one is dropped or delivered without
// writing the others again.
const (
	suffix = ".report"
	// unfinished is what a file is called that is going to replace another.
	unfinished = ".new"
)

var fileName = regexp.MustCompile(`^[0-9a-f]{16}\.report$`)

func (s *Spool) open() error {
	if err := os.MkdirAll(s.options.Dir, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(s.options.Dir, 0o700); err != nil { // one that was there may be open to others
		return err
	}
	dir, err := os.Open(s.options.Dir)
	if err != nil {
		return err
	}
	s.dir = dir
	files, err := os.ReadDir(s.options.Dir) // sorted by name, which is by number
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	for _, file := range files {
		if err := s.recover(file); err != nil {
			return errors.Join(err, dir.Close())
		}
	}
	if len(s.queue) > 0 {
		s.options.Logger.Info("reports of an earlier piped wait for the control plane", "reports", len(s.queue),
			"bytes", s.bytes)
	}
	return nil
}

// recover adds what an earlier agent has left in a file to the queue, and removes what is no report.
func (s *Spool) recover(file fs.DirEntry) error {
	name := file.Name()
	if filepath.Ext(name) == unfinished {
		return os.Remove(filepath.Join(s.options.Dir, name))
	}
	if !fileName.MatchString(name) || !file.Type().IsRegular() {
		return nil
	}
	number, err := strconv.ParseUint(name[:16], 16, 64)
	if err != nil {
		return err
	}
	s.number = number + 1
	call, request, size, err := s.read(number)
	var broken *fs.PathError
	switch {
	case errors.As(err, &broken):
		return err
	case err != nil:
		s.options.Logger.Warn("a kept report cannot be read and is dropped", "file", name, "error", err)
		s.dropped.Unreadable++
		return os.Remove(filepath.Join(s.options.Dir, name))
	}
	e := newEntry(number, size, call, request)
	if info, err := file.Info(); err == nil {
		e.since = info.ModTime() // a report is written once; only a log that was shortened looks younger
	}
	s.queue = append(s.queue, e)
	s.bytes += size
	return nil
}

func newEntry(number uint64, size int64, call string, request proto.Message) entry {
	e := entry{number: number, size: size, since: time.Now(), kind: reports[call].kind, object: objectOf(request)}
	if e.kind != lasting {
		e.log = logOf(request)
	}
	if _, short := countLeftOut(request); short {
		e.kind = shortened
	}
	return e
}

func (s *Spool) path(number uint64) string {
	return filepath.Join(s.options.Dir, fmt.Sprintf("%016x%s", number, suffix))
}

func (s *Spool) read(number uint64) (string, proto.Message, int64, error) {
	file, err := os.Open(s.path(number))
	if err != nil {
		return "", nil, 0, err
	}
	defer file.Close()
	record, err := io.ReadAll(io.LimitReader(file, s.options.MaxBytes+1))
	if err != nil {
		return "", nil, 0, err
	}
	call, request, err := decode(record)
	return call, request, int64(len(record)), err
}

// write makes the file of a report. One that is durable outlasts the machine, others only the agent.
func (s *Spool) write(number uint64, record []byte, durable bool) error {
	if err := writeFile(s.path(number), record, durable); err != nil {
		return errors.Join(err, remove(s.path(number)))
	}
	if durable {
		return s.dir.Sync()
	}
	return nil
}

// replace puts another record in the place of one.
func (s *Spool) replace(number uint64, record []byte) error {
	next := s.path(number) + unfinished
	if err := writeFile(next, record, true); err != nil {
		return errors.Join(err, remove(next))
	}
	return os.Rename(next, s.path(number))
}

func writeFile(path string, data []byte, durable bool) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil && durable {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
