// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package processtree

import (
	"fmt"
	"io"
	"sync"
)

// Output is an io.Writer that keeps the beginning and the end of what a program writes, in bounded memory. Write never
// fails, so that the program never waits.
type Output struct {
	mu    sync.Mutex
	limit int // bytes, of the beginning and of the end each
	head  []byte
	// tail is a ring once it is full; next is its oldest byte.
	tail  []byte
	next  int
	total int64
}

var _ io.Writer = (*Output)(nil)

// NewOutput returns an Output that keeps limit bytes in all.
func NewOutput(limit int) *Output { return &Output{limit: max(1, limit/2)} }

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.total += int64(len(p))
	rest := p
	if room := min(o.limit-len(o.head), len(rest)); room > 0 {
		o.head = append(o.head, rest[:room]...)
		rest = rest[room:]
	}
	rest = rest[max(0, len(rest)-o.limit):]
	if room := min(o.limit-len(o.tail), len(rest)); room > 0 {
		o.tail = append(o.tail, rest[:room]...)
		rest = rest[room:]
	}
	for len(rest) > 0 {
		n := copy(o.tail[o.next:], rest)
		rest = rest[n:]
		o.next = (o.next + n) % o.limit
	}
	return len(p), nil
}

// String is what is kept, with a note about what is not.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	tail := string(o.tail[o.next:]) + string(o.tail[:o.next])
	if missing := o.total - int64(len(o.head)+len(tail)); missing > 0 {
		return fmt.Sprintf("%s\n… %d bytes are left out …\n%s", o.head, missing, tail)
	}
	return string(o.head) + tail
}
