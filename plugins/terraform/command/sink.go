// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// sink is a file without a name that a program writes to.
type sink struct {
	file *os.File
	// read is how much of it has been followed.
	read int64
}

func newSink() (*sink, error) {
	file, err := os.CreateTemp("", "pipedeck-terraform-*")
	if err != nil {
		return nil, fmt.Errorf("create a file for the output: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return nil, err
	}
	return &sink{file: file}, nil
}

// Close gives up the file; a program that still writes to it goes on.
func (s *sink) Close() { _ = s.file.Close() }

// follow passes on what is new.
func (s *sink) follow(to io.Writer) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := s.file.ReadAt(buffer, s.read)
		s.read += int64(n)
		_, _ = to.Write(buffer[:n]) // a log takes all
		if err != nil || n == 0 {
			return
		}
	}
}

// all is the whole content, which may have at most limit bytes.
func (s *sink) all(limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.NewSectionReader(s.file, 0, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the output: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("the output has more than %d MiB", limit>>20)
	}
	return data, nil
}

// end is the end of the content, of at most limit bytes.
func (s *sink) end(limit int64) (string, error) {
	info, err := s.file.Stat()
	if err != nil {
		return "", err
	}
	data := make([]byte, min(limit, info.Size()))
	if _, err := s.file.ReadAt(data, info.Size()-int64(len(data))); err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the output: %w", err)
	}
	return string(data), nil
}
