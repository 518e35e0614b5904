// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"bytes"
	"encoding/binary"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// keyless is a connection of a caller without a key that speaks HTTP/2 by the frame, and answers pings.
type keyless struct {
	conn   net.Conn
	framer *http2.Framer

	mu   sync.Mutex
	cond *sync.Cond
	// window is what may be sent: of the connection, and of stream 1.
	window, stream int
	// over is set when the server has answered the call or closed the connection.
	over bool
	done chan struct{}
}

func dialKeyless(t *testing.T, address string) *keyless {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	k := &keyless{conn: conn, framer: http2.NewFramer(conn, conn), window: 65535, stream: 65535,
		done: make(chan struct{})}
	k.cond = sync.NewCond(&k.mu)
	_, _ = conn.Write([]byte(http2.ClientPreface)) // the server may have closed it already
	_ = k.framer.WriteSettings()
	go k.read()
	t.Cleanup(func() {
		_ = conn.Close()
		<-k.done
	})
	return k
}

func (k *keyless) read() {
	defer close(k.done)
	for {
		frame, err := k.framer.ReadFrame()
		k.mu.Lock()
		switch f := frame.(type) {
		case *http2.PingFrame:
			if !f.IsAck() {
				_ = k.framer.WritePing(true, f.Data)
			}
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = k.framer.WriteSettingsAck()
			}
		case *http2.WindowUpdateFrame:
			if f.StreamID == 0 {
				k.window += int(f.Increment)
			} else {
				k.stream += int(f.Increment)
			}
		case *http2.HeadersFrame, *http2.RSTStreamFrame:
			k.over = true
		}
		k.over = k.over || err != nil
		k.cond.Broadcast()
		k.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// call begins a call.
func (k *keyless) call(method string) {
	headers := headersOf(method)
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: headers, EndHeaders: true})
}

// reset begins calls and takes each back at once, until the server closes the connection. It returns false when the
// server has not after so many.
func (k *keyless) reset(method string, calls int) bool {
	headers := headersOf(method)
	for n := range calls {
		id := uint32(2*n + 1)
		k.mu.Lock()
		err := k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: headers, EndHeaders: true})
		if err == nil {
			err = k.framer.WriteRSTStream(id, http2.ErrCodeCancel)
		}
		k.mu.Unlock()
		if err != nil {
			return true
		}
	}
	return false
}

func headersOf(method string) []byte {
	var headers bytes.Buffer
	encoder := hpack.NewEncoder(&headers)
	for _, h := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", method}, {":authority", "x"},
		{"content-type", "application/grpc"}, {"te", "trailers"},
	} {
		_ = encoder.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]})
	}
	return headers.Bytes()
}

// sendUnfinished sends a message of a size but for its last byte, as the server lets it. It returns when all is sent,
// the server has answered, or the connection has ended.
func (k *keyless) sendUnfinished(size int) {
	chunk := make([]byte, 16<<10)
	prefix := binary.BigEndian.AppendUint32([]byte{0}, uint32(size))
	k.mu.Lock()
	defer k.mu.Unlock()
	for data, left := prefix, size-1; len(data) > 0; {
		for !k.over && min(k.window, k.stream) < len(data) {
			k.cond.Wait()
		}
		if k.over || k.framer.WriteData(1, false, data) != nil {
			return
		}
		k.window, k.stream = k.window-len(data), k.stream-len(data)
		data = chunk[:min(left, len(chunk))]
		left -= len(data)
	}
}
