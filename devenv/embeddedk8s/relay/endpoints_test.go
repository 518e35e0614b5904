// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
)

// pods are programs that greet whoever connects with their name and wait for the client to end.
type pods struct {
	t     *testing.T
	ports map[Address]string
}

func newPods(t *testing.T) *pods { return &pods{t: t, ports: map[Address]string{}} }

// resolve implements Resolver. The map does not change while connections are made.
func (p *pods) resolve(address Address) (string, error) {
	if port, ok := p.ports[address]; ok {
		return port, nil
	}
	return "", errors.New("it is simulated")
}

// start starts a program that greets with its IP.
func (p *pods) start(ip string) Address {
	p.t.Helper()
	return p.startWith(ip, func(conn net.Conn) {
		defer conn.Close()
		fmt.Fprint(conn, ip)
		_, _ = io.Copy(io.Discard, conn)
	})
}

func (p *pods) startWith(ip string, serve func(net.Conn)) Address {
	p.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(p.t, err)
	p.t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	address := Address{IP: ip, Port: 8080}
	p.ports[address] = listener.Addr().String()
	return address
}

// refuse makes an address that refuses connections.
func (p *pods) refuse(ip string) Address {
	p.t.Helper()
	port, err := containers.NewPorts().Take() // which the system gives to no one else
	require.NoError(p.t, err)
	address := Address{IP: ip, Port: 8080}
	p.ports[address] = fmt.Sprintf("127.0.0.1:%d", port)
	return address
}

// answers counts who answers n connections, one after the other.
func answers(t *testing.T, e *Endpoints, n int) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for range n {
		conn, err := e.Dial(t.Context())
		require.NoError(t, err)
		require.NoError(t, conn.(interface{ CloseWrite() error }).CloseWrite())
		text, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		counts[string(text)]++
	}
	return counts
}

func TestConnectionsAreSharedExactly(t *testing.T) {
	t.Parallel()
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	var all []Address
	for i := range 10 {
		all = append(all, p.start(fmt.Sprintf("10.244.0.%d", i)))
	}
	e.Set(all, 0)
	counts := answers(t, e, 200)
	require.Len(t, counts, 10)
	for who, count := range counts {
		require.Equal(t, 20, count, who)
	}
}

func TestSharesStayEqualWhenTheSetChanges(t *testing.T) {
	t.Parallel()
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	one, two, three := p.start("one"), p.start("two"), p.start("three")
	e.Set([]Address{one, two}, 0)
	require.Equal(t, map[string]int{"one": 2, "two": 1}, answers(t, e, 3))
	e.Set([]Address{one, two, three}, 0)
	require.Equal(t, map[string]int{"one": 10, "two": 10, "three": 10}, answers(t, e, 30))
	e.Set([]Address{three}, 1)
	require.Equal(t, map[string]int{"three": 4}, answers(t, e, 4))
}

func TestEndpointsThatRunNowhereOrRefuseAreSkipped(t *testing.T) {
	t.Parallel()
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	e.Set([]Address{p.start("one"), {IP: "simulated", Port: 8080}, p.start("two"), p.refuse("ended")}, 0)
	counts := answers(t, e, 40)
	require.Equal(t, 40, counts["one"]+counts["two"])
	require.InDelta(t, 20, counts["one"], 1)
}

func TestAConnectionWithoutEndpointSaysWhy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		set  func(*Endpoints)
		says string
	}{
		"nothing is selected": {func(*Endpoints) {}, "no endpoint: no pod is selected"},
		"nothing is ready":    {func(e *Endpoints) { e.Set(nil, 3) }, "no endpoint: none of 3 is ready"},
		"pods are simulated": {func(e *Endpoints) { e.Set([]Address{{IP: "10.244.0.9", Port: 80}}, 0) },
			"no endpoint: 1 ready, but none listens there: it is simulated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := NewEndpoints(newPods(t).resolve)
			test.set(e)
			_, err := e.Dial(t.Context())
			require.ErrorIs(t, err, ErrNoEndpoint)
			require.EqualError(t, err, test.says)
		})
	}
	t.Run("the only pod refuses", func(t *testing.T) {
		t.Parallel()
		p := newPods(t)
		e := NewEndpoints(p.resolve)
		e.Set([]Address{p.refuse("ended")}, 0)
		_, err := e.Dial(t.Context())
		require.ErrorContains(t, err, "connection refused")
	})
}

func TestRetiringWaitsForFirstAnswers(t *testing.T) {
	t.Parallel()
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	speak := make(chan struct{})
	slow := p.startWith("slow", func(conn net.Conn) {
		<-speak
		fmt.Fprint(conn, "slow")
		_ = conn.Close()
	})
	other := p.start("other")
	e.Set([]Address{slow}, 0)
	waiting, err := e.Dial(t.Context())
	require.NoError(t, err)
	defer waiting.Close()
	e.Set([]Address{slow, other}, 0)

	retired := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { defer close(retired); e.Retire(ctx, "slow") }()
	require.Eventually(t, func() bool { return len(e.retire("slow")) == 1 && e.members[slow].retired },
		longest, step)
	require.Equal(t, map[string]int{"other": 5}, answers(t, e, 5), "no new connection goes there")
	select {
	case <-retired:
		require.Fail(t, "it returned before the connection was answered")
	default:
	}
	close(speak)
	text, err := io.ReadAll(waiting)
	require.NoError(t, err)
	require.Equal(t, "slow", string(text))
	<-retired
	cancel()

	e.Retire(t.Context(), "slow") // nothing is open
	e.Set([]Address{other}, 0)
	e.Set([]Address{other, slow}, 0)
	require.Equal(t, map[string]int{"slow": 1, "other": 1}, answers(t, e, 2), "an address that comes back is new")
}

func TestRetiringIsBoundedByItsContext(t *testing.T) {
	t.Parallel()
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	silent := p.startWith("silent", func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn); _ = conn.Close() })
	e.Set([]Address{silent}, 0)
	conn, err := e.Dial(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e.Retire(ctx, "silent")
}

func TestAConnectionWaitsForAnEndpointThatIsAboutToBeReady(t *testing.T) {
	t.Parallel()
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	address := p.start("10.0.0.1")
	e.Set(nil, 1)
	dialed := make(chan error, 1)
	go func() {
		conn, err := e.Dial(context.Background())
		if err == nil {
			_ = conn.Close()
		}
		dialed <- err
	}()
	require.Eventually(t, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.changed != nil
	}, becomingTime, becomingTime/100)
	e.Set([]Address{address}, 0)
	require.NoError(t, <-dialed)
}
