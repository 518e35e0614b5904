// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxLine bounds what is read at once of a line in a log file; a longer one is sent in parts.
const maxLine = 64 << 10

// logFile reads a log: the older files, then the one that grows. When that is renamed, the reader goes on with the one
// in its place.
type logFile struct {
	// path is that of the file that grows.
	path string
	file *os.File
	in   *bufio.Reader
	// next are the files that follow the one that is read; none while that may still grow.
	next []*os.File
	// part is the beginning of a line whose end is not written yet.
	part []byte
}

// openLog opens the files of a log, the oldest first. An older one that is gone is not missed.
func openLog(files []string) (*logFile, error) {
	var opened []*os.File
	for i, path := range files {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) && i < len(files)-1 {
			continue
		}
		if err != nil {
			closeAll(opened)
			return nil, fmt.Errorf("open the log: %w", err)
		}
		if len(opened) > 0 && sameFile(opened[len(opened)-1], file) { // renamed just now
			_ = file.Close()
			continue
		}
		opened = append(opened, file)
	}
	if len(opened) == 0 {
		return nil, fmt.Errorf("open the log: %w", ErrNotFound)
	}
	return &logFile{
		path: files[len(files)-1], file: opened[0], next: opened[1:], in: bufio.NewReaderSize(opened[0], maxLine),
	}, nil
}

func sameFile(a, b *os.File) bool {
	first, errFirst := a.Stat()
	second, errSecond := b.Stat()
	return errFirst == nil && errSecond == nil && os.SameFile(first, second)
}

// Close closes the files.
func (l *logFile) Close() { closeAll(append(l.next, l.file)) }

func closeAll(files []*os.File) {
	for _, file := range files {
		_ = file.Close()
	}
}

// seekTail moves to the beginning of the last lines; -1 stands for all.
func (l *logFile) seekTail(lines int64) error {
	if lines < 0 {
		return nil
	}
	skip := -lines
	counts := make([]int64, 0, 1+len(l.next))
	for _, file := range append([]*os.File{l.file}, l.next...) {
		count, err := countLines(file)
		if err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		counts = append(counts, count)
		skip += count
	}
	for _, count := range counts[:len(counts)-1] {
		if skip < count {
			break
		}
		skip -= count
		if err := l.forward(); err != nil {
			return err
		}
	}
	for ; skip > 0; skip-- {
		if _, err := l.skipLine(); err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
	}
	return nil
}

// forward goes on with the next file.
func (l *logFile) forward() error {
	err := l.file.Close()
	l.file, l.next = l.next[0], l.next[1:]
	l.in.Reset(l.file)
	return err
}

// skipLine reads up to the end of a line as the container has written it, which may have several parts in the file.
func (l *logFile) skipLine() (whole bool, err error) {
	for !whole && err == nil {
		var line []byte
		if line, err = l.line(); err == nil {
			_, _, _, whole = parse(line)
		}
	}
	return whole, err
}

// line returns the next line of the file with its end; io.EOF when its end is not written yet.
func (l *logFile) line() ([]byte, error) {
	for {
		piece, err := l.in.ReadSlice('\n')
		l.part = append(l.part, piece...)
		switch {
		case err == nil, errors.Is(err, bufio.ErrBufferFull) && len(l.part) >= maxLine:
			line := l.part
			l.part = nil
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// copyTo writes all lines that are there.
func (l *logFile) copyTo(out *logWriter) error {
	for {
		line, err := l.line()
		if err == nil {
			if err := out.write(line); err != nil {
				return err
			}
			continue
		}
		if !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the log: %w", err)
		}
		if more, err := l.renamed(); err != nil || !more {
			return err
		}
	}
}

// renamed goes on with the file that follows, if there is one. It is called at the end of the one that is read.
func (l *logFile) renamed() (more bool, err error) {
	if len(l.next) > 0 {
		return true, l.forward()
	}
	now, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // between two renames, or removed with its pod
	}
	if err != nil {
		return false, fmt.Errorf("look for the log: %w", err)
	}
	if read, err := l.file.Stat(); err != nil || os.SameFile(read, now) {
		return false, err
	}
	// What was written between the last read and the rename is still to be read from the old file.
	file, err := os.Open(l.path)
	if err != nil {
		return false, fmt.Errorf("open the log: %w", err)
	}
	l.next = append(l.next, file)
	return true, nil
}

// countLines counts the lines of a file as the container has written them, and moves back to its beginning.
func countLines(file *os.File) (count int64, err error) {
	counter := &logFile{file: file, in: bufio.NewReaderSize(file, maxLine)}
	for {
		whole, err := counter.skipLine()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		if whole {
			count++
		}
	}
	_, err = file.Seek(0, io.SeekStart)
	return count, err
}
