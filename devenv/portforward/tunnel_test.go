// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/streaming/pkg/httpstream"
)

func TestATunnelThatIsClosedWhileItConnectsLeavesNoConnection(t *testing.T) {
	t.Parallel()
	for range 20_000 {
		conn := &closable{closed: make(chan bool)}
		tunnel := newTunnel()
		dialing := make(chan struct{})
		var both sync.WaitGroup
		both.Go(func() {
			tunnel.connect(func(context.Context, string, string) (httpstream.Connection, error) {
				close(dialing)
				return conn, nil
			}, pod{})
		})
		<-dialing
		tunnel.close()
		both.Wait()
		require.True(t, conn.isClosed())
	}
}

// closable is a connection that nothing goes through.
type closable struct {
	httpstream.Connection
	once   sync.Once
	closed chan bool
}

func (c *closable) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func (c *closable) CloseChan() <-chan bool { return c.closed }

func (c *closable) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}
