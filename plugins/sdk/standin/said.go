// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"io"
	"slices"
	"strings"
)

// maxSaid bounds what is kept of the output of a program, in bytes: its end, which has the panic of a Go program, but
// for one with many goroutines.
const maxSaid = 256 << 10

// maxLastWords are the most lines of a panic that are shown: the message, and where it was.
const maxLastWords = 8

// said passes the output of a program on and keeps its end. One goroutine writes, others read after its end.
type said struct {
	to   io.Writer
	kept []byte
}

func (s *said) Write(p []byte) (int, error) {
	s.kept = append(s.kept, p...)
	if len(s.kept) > 2*maxSaid {
		s.kept = slices.Delete(s.kept, 0, len(s.kept)-maxSaid)
	}
	if s.to == nil {
		return len(p), nil
	}
	return s.to.Write(p)
}

// lastWords are the first lines of the panic of a Go program, or the last line.
func (s *said) lastWords() string {
	lines := strings.Split(strings.TrimSpace(string(s.kept)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.Join(lines[i:min(len(lines), i+maxLastWords)], "\n")
		}
	}
	return lines[len(lines)-1]
}
