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

// logFile reads a log: the older part, if there is one, then the one that grows. When that is renamed, the reader goes
// on with the one in its place.
type logFile struct {
	path string
	file *os.File
	in   *bufio.Reader
	// next is the file that follows the one that is read; nil while that may still grow.
	next *os.File
	// part is the beginning of a line whose end is not written yet.
	part []byte
}

func openLog(path string) (*logFile, error) {
	newest, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no log: the container has not started yet, or its log was removed")
	}
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	log := &logFile{path: path, file: newest}
	if older, err := os.Open(path + RotatedSuffix); err == nil {
		if log.file, log.next = older, newest; sameFile(older, newest) { // renamed just now
			log.next = nil
			_ = newest.Close()
		}
	}
	log.in = bufio.NewReaderSize(log.file, maxLine)
	return log, nil
}

func sameFile(a, b *os.File) bool {
	first, errFirst := a.Stat()
	second, errSecond := b.Stat()
	return errFirst == nil && errSecond == nil && os.SameFile(first, second)
}

// Close closes the files.
func (l *logFile) Close() {
	_ = l.file.Close()
	if l.next != nil {
		_ = l.next.Close()
	}
}

// seekTail moves to the beginning of the last lines; -1 stands for all.
func (l *logFile) seekTail(lines int64) error {
	if lines < 0 {
		return nil
	}
	if l.next != nil {
		count, err := countLines(l.next)
		if err == nil && count >= lines {
			err = l.forward()
		} else {
			lines -= count
		}
		if err != nil {
			return err
		}
	}
	count, err := countLines(l.file)
	for skipped := int64(0); err == nil && skipped < count-lines; skipped++ {
		_, err = l.skipLine()
	}
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	return nil
}

// forward goes on with the next file.
func (l *logFile) forward() error {
	err := l.file.Close()
	l.file, l.next = l.next, nil
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
	if l.next != nil {
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
	if l.next, err = os.Open(l.path); err != nil {
		return false, fmt.Errorf("open the log: %w", err)
	}
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
