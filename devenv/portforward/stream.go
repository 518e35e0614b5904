// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"k8s.io/streaming/pkg/httpstream"
)

// maxFailure bounds what a kubelet reports about a failed connection, in bytes.
const maxFailure = 4 << 10

// errUndelivered says that the pod did not take the connection: whatever was sent never arrived.
var errUndelivered = errors.New("the pod does not take connections at this port")

// stream is one connection to a port of a pod.
type stream struct {
	conn           httpstream.Connection
	data, failures httpstream.Stream
	// failed is closed when failure is set, at the end of the stream.
	failed  chan struct{}
	failure string

	once   sync.Once
	closed func()
}

func newStream(conn httpstream.Connection, data, failures httpstream.Stream) *stream {
	s := &stream{conn: conn, data: data, failures: failures, failed: make(chan struct{}), closed: func() {}}
	go func() {
		defer close(s.failed)
		text, _ := io.ReadAll(io.LimitReader(failures, maxFailure))
		s.failure = strings.TrimSpace(string(text))
	}()
	return s
}

// Read returns what the pod sends; its end is io.EOF, errUndelivered or why the connection broke.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.data.Read(p)
	if n > 0 || err == nil {
		return n, nil
	}
	if failure := s.why(); failure != nil {
		return 0, failure
	}
	return 0, err
}

// Write sends to the pod. An error does not say why; the next Read does.
func (s *stream) Write(p []byte) (int, error) { return s.data.Write(p) }

// CloseWrite shows the pod that nothing more follows.
func (s *stream) CloseWrite() error { return s.data.Close() }

// why waits for the reason of the stream's end, which follows at once, or with the connection's.
func (s *stream) why() error {
	select {
	case <-s.failed:
	case <-s.conn.CloseChan():
		return io.ErrUnexpectedEOF
	}
	switch {
	case s.failure == "":
		return nil
	case undelivered(s.failure):
		return fmt.Errorf("%w: %s", errUndelivered, s.failure)
	default:
		return errors.New(s.failure)
	}
}

// undelivered recognises the words of container runtimes for a connection that was never made. One
// that was made and broke is something else: the pod may have acted on what it received.
func undelivered(failure string) bool {
	failure = strings.ToLower(failure)
	for _, words := range []string{
		"failed to connect to", "connection refused", "failed to find sandbox", "is not running", "failed to statfs",
		"network namespace for sandbox",
	} {
		if strings.Contains(failure, words) {
			return true
		}
	}
	return false
}

// Close ends the stream and waits for its reader of failures.
func (s *stream) Close() error {
	s.once.Do(func() {
		_ = s.data.Reset()
		_ = s.failures.Reset()
		s.conn.RemoveStreams(s.data, s.failures)
		<-s.failed
		s.closed()
	})
	return nil
}
