// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage bounds a message of an assistant in bytes.
const maxMessage = 1 << 20

// transport is one over these streams that answers what is not a message with an error of JSON-RPC and goes on; that of
// the library ends there.
func transport(in io.ReadCloser, out io.Writer) mcp.Transport {
	answers := &sharedWriter{to: out}
	return &mcp.IOTransport{
		Reader: &messages{Closer: in, lines: bufio.NewReaderSize(in, 64<<10), answers: answers}, Writer: answers,
	}
}

// messages reads the lines that are messages.
type messages struct {
	io.Closer
	lines   *bufio.Reader
	answers io.Writer
	// rest is what was not read yet of a message.
	rest []byte
}

// Read reads a part of a message, or waits for the next one.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		line, err := m.line()
		line = bytes.TrimSpace(line)
		refused := &jsonrpc.Error{}
		switch {
		case errors.As(err, &refused):
		case err != nil && len(line) == 0:
			return 0, err
		case len(line) > 0:
			refused = refuse(line)
		default:
			continue
		}
		if refused == nil {
			m.rest = append(line, '\n')
			break
		}
		if err := m.refused(refused); err != nil {
			return 0, err
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// line reads a line. It skips what is longer than a message may be, and returns an error of JSON-RPC then.
func (m *messages) line() (line []byte, err error) {
	for long := false; ; {
		piece, err := m.lines.ReadSlice('\n')
		if long = long || len(line)+len(piece) > maxMessage; !long {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
				Message: fmt.Sprintf("a message is longer than %d MiB", maxMessage>>20)}
		default:
			return line, err
		}
	}
}

// refuse returns what is wrong with a line; nil for a message.
func refuse(line []byte) *jsonrpc.Error {
	if err := json.Unmarshal(line, new(any)); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "a line is not JSON: " + err.Error() +
			"; send one message a line"}
	}
	if line[0] == '[' {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
			Message: "a line is a batch, which is not supported; send one message a line"}
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
			Message: "a line is not a message of JSON-RPC 2.0: " + err.Error()}
	}
	return nil
}

// refused answers with an error. Its id is null, because no request is known.
func (m *messages) refused(why *jsonrpc.Error) error {
	answer, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      *string        `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", nil, why})
	if err == nil {
		_, err = m.answers.Write(append(answer, '\n'))
	}
	return err
}

// sharedWriter writes one message after another.
type sharedWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write writes a whole message.
func (w *sharedWriter) Write(message []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(message)
}

// Close leaves standard output open, for errors of the command.
func (w *sharedWriter) Close() error { return nil }
