// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// farewell bounds how long closing waits until the WebSocket's last message is sent.
const farewell = time.Second

// messages is a connection whose bytes are the content of binary messages of a WebSocket, wherever these begin and end.
// client-go has one, in a package that brings the types of all of Kubernetes with it.
type messages struct {
	socket *websocket.Conn
	// current is the message that is read; nil between two of them. Only one goroutine reads.
	current io.Reader
	writing sync.Mutex
}

func newMessages(socket *websocket.Conn) *messages { return &messages{socket: socket} }

// Read implements io.Reader. The end of the WebSocket in good order is io.EOF.
func (m *messages) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if m.current == nil {
			kind, message, err := m.socket.NextReader()
			switch {
			case websocket.IsCloseError(err, websocket.CloseNormalClosure):
				return 0, io.EOF
			case err != nil:
				return 0, err
			case kind != websocket.BinaryMessage:
				return 0, fmt.Errorf("the server sent a WebSocket message of kind %d, not one of bytes", kind)
			}
			m.current = message
		}
		n, err := m.current.Read(p)
		if errors.Is(err, io.EOF) { // of the message
			m.current, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// Write sends p as one message. Several goroutines may write.
func (m *messages) Write(p []byte) (int, error) {
	m.writing.Lock()
	defer m.writing.Unlock()
	if err := m.socket.WriteMessage(websocket.BinaryMessage, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close says so to the server where it can, and ends reads and writes. It may be called more than once.
func (m *messages) Close() error {
	// A control message may be sent while another goroutine writes. No one could do more about an error.
	_ = m.socket.WriteControl(websocket.CloseMessage,
		websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(farewell))
	if err := m.socket.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

func (m *messages) LocalAddr() net.Addr  { return m.socket.LocalAddr() }
func (m *messages) RemoteAddr() net.Addr { return m.socket.RemoteAddr() }

func (m *messages) SetDeadline(t time.Time) error {
	return errors.Join(m.socket.SetReadDeadline(t), m.socket.SetWriteDeadline(t))
}

func (m *messages) SetReadDeadline(t time.Time) error  { return m.socket.SetReadDeadline(t) }
func (m *messages) SetWriteDeadline(t time.Time) error { return m.socket.SetWriteDeadline(t) }

var _ net.Conn = (*messages)(nil)
