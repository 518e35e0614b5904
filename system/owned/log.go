// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// MaxLog is the usual bound of a log file in bytes; its predecessor may be as large.
const MaxLog = 10 << 20

// Log is a log file of bounded size. A write that would exceed the bound first copies the content of the file to
// <path>.1, in place of an earlier copy, and empties the file. The file itself stays, so that a process that has it as
// its standard error goes on writing to it; what such a process writes counts too. A Log is safe for concurrent use.
type Log struct {
	path string
	max  int64
	// reserve is the space behind the end of the file that Write keeps free; see Reserve.
	reserve int64

	mu   sync.Mutex
	file *os.File
}

// OpenLog opens a log file of at most max bytes for appending, with the checks of OpenFile. The caller closes it.
func OpenLog(path string, max int64) (*Log, error) {
	file, err := OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	return &Log{path: path, max: max, file: file}, nil
}

// Write appends p as a whole. Of p, what exceeds the bound of the file is cut off, and Write still reports all of it as
// written: the bound is no error of the writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	info, err := l.file.Stat()
	if err != nil {
		return 0, err
	}
	kept := p[:min(int64(len(p)), l.max)]
	if info.Size() > 0 && info.Size()+int64(len(kept)) > l.max {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	if err := l.keepReserve(int64(len(kept))); err != nil {
		return 0, err
	}
	if n, err := l.file.Write(kept); err != nil {
		return n, err
	}
	return len(p), nil
}

// Reserve has the log keep so many bytes of the disk free behind its end. When the disk is full, Write fails instead of
// using them: they are for the last words of a process that has the file as its standard error. A system or a file
// system that cannot reserve space has no reserve.
func (l *Log) Reserve(bytes int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserve = bytes
	return l.keepReserve(0)
}

// keepReserve reserves the space for a write and the reserve behind it. The caller holds l.mu.
func (l *Log) keepReserve(write int64) error {
	if l.reserve == 0 {
		return nil
	}
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	err = reserve(l.file, info.Size(), write+l.reserve)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("write to the log %s: %w", l.path, err)
	}
	return nil
}

// rotate empties the file. The bound holds although the copy fails, on a full disk for one; a line says so then.
func (l *Log) rotate() error {
	copied := l.copy()
	if err := l.file.Truncate(0); err != nil {
		return fmt.Errorf("empty the log %s: %w", l.path, err)
	}
	if copied != nil {
		_, _ = fmt.Fprintf(l.file, "the earlier lines of this log could not be kept: %v\n", copied)
	}
	return nil
}

func (l *Log) copy() (err error) {
	before, err := OpenFile(l.path+".1", os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, before.Close()) }()
	// The newest lines, when another process has written more than the bound.
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	start := max(0, info.Size()-l.max)
	_, err = io.Copy(before, io.NewSectionReader(l.file, start, info.Size()-start))
	return err
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
