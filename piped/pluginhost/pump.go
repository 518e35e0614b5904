// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// maxLastWords bounds what catchUp reads: a pipe holds less, unless someone goes on writing.
const maxLastWords = 1 << 20

// pump carries what stands in a pipe to a writer. Besides the one that runs, others can have it catch up:
// so that what an ended process has written is known at once, though a child of it holds the pipe open.
type pump struct {
	pipe syscall.RawConn
	to   io.Writer

	mu     sync.Mutex // one read and its write
	buffer [32 << 10]byte
}

func newPump(pipe *os.File, to io.Writer) (*pump, error) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("read the output of a plugin: %w", err)
	}
	return &pump{pipe: raw, to: to}, nil
}

// run returns at the end of the pipe, or when its read deadline has passed.
func (p *pump) run() {
	_ = p.pipe.Read(func(fd uintptr) bool {
		for {
			n, err := p.step(fd)
			if errors.Is(err, syscall.EAGAIN) {
				return false // waits for more
			}
			if n == 0 {
				return true
			}
		}
	})
}

// catchUp returns when the pipe was empty once.
func (p *pump) catchUp() {
	_ = p.pipe.Control(func(fd uintptr) {
		for total := 0; total < maxLastWords; {
			n, _ := p.step(fd)
			if n == 0 {
				return
			}
			total += n
		}
	})
}

// step carries some bytes, and none at the end of the pipe and with an error.
func (p *pump) step(fd uintptr) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		n, err := syscall.Read(int(fd), p.buffer[:])
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return 0, err
		}
		return p.to.Write(p.buffer[:n])
	}
}
