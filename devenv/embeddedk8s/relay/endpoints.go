// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// dialTimeout bounds one attempt to connect. Endpoints are on this machine: they accept or refuse at once, unless a
// program's backlog is full.
const dialTimeout = 2 * time.Second

// becomingTime is how long a connection waits while all endpoints that are known are not ready: whoever connects may
// have heard a moment earlier that one is.
const becomingTime = 500 * time.Millisecond

// Address names an endpoint as its owner knows it. It need not be an address of this machine.
type Address struct {
	IP   string
	Port int32
}

// Resolver returns where an endpoint answers on this machine, as host:port. The error says why nothing answers there.
// It is called for each endpoint at each connection, from several goroutines.
type Resolver func(Address) (hostPort string, err error)

// ErrNoEndpoint is in the error of Dial when no endpoint can be tried. The error's text names the reason.
var ErrNoEndpoint = errors.New("no endpoint")

// Endpoints is a set of endpoints that share connections equally.
type Endpoints struct {
	resolve Resolver

	mu sync.Mutex
	// turn counts picks.
	turn    uint64
	members map[Address]*member
	// unready counts the endpoints that Set was given besides the ready ones.
	unready int
	// changed is closed by the next Set; nil while no one waits for it.
	changed chan struct{}
}

// member is a ready endpoint.
type member struct {
	address Address
	// used is the turn of the last pick.
	used uint64
	// retired members are not picked again.
	retired bool
	// unanswered counts connections without a byte from the endpoint. It grows only while retired is false.
	unanswered sync.WaitGroup
}

// NewEndpoints returns an empty set.
func NewEndpoints(resolve Resolver) *Endpoints {
	return &Endpoints{resolve: resolve, members: map[Address]*member{}}
}

// Set replaces the set. unready is how many endpoints are known that are not ready; it is only used in messages.
func (e *Endpoints) Set(ready []Address, unready int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	members := make(map[Address]*member, len(ready))
	for _, address := range ready {
		if known := e.members[address]; known != nil {
			members[address] = known
			continue
		}
		members[address] = &member{address: address}
	}
	e.members, e.unready = members, unready
	if e.changed != nil {
		close(e.changed)
		e.changed = nil
	}
}

// becoming returns what is closed when the set changes; nil unless all that is known is not ready.
func (e *Endpoints) becoming() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.members) > 0 || e.unready == 0 {
		return nil
	}
	if e.changed == nil {
		e.changed = make(chan struct{})
	}
	return e.changed
}

// Retire lets no new connection go to the endpoints with that IP until Set was called without them. It returns when
// each connection that they already have got its first byte from the endpoint, has ended, or ctx has ended.
func (e *Endpoints) Retire(ctx context.Context, ip string) {
	answered := make(chan struct{})
	retired := e.retire(ip)
	go func() {
		defer close(answered)
		for _, m := range retired {
			m.unanswered.Wait()
		}
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	}
}

func (e *Endpoints) retire(ip string) []*member {
	e.mu.Lock()
	defer e.mu.Unlock()
	var retired []*member
	for address, m := range e.members {
		if address.IP == ip {
			m.retired = true
			retired = append(retired, m)
		}
	}
	return retired
}

// Dial connects to the endpoint whose turn it is, or to the next one when it refuses. The error is ErrNoEndpoint when
// there was none to try.
func (e *Endpoints) Dial(ctx context.Context) (net.Conn, error) {
	return e.DialWhere(ctx, func(Address) bool { return true })
}

// DialWhere is Dial for the endpoints that chosen chooses. Endpoints is locked while it is called.
func (e *Endpoints) DialWhere(ctx context.Context, chosen func(Address) bool) (net.Conn, error) {
	tried := map[*member]bool{}
	var refused error
	late := time.NewTimer(becomingTime)
	defer late.Stop()
	for {
		changed := e.becoming()
		m, hostPort := e.pick(tried, chosen)
		if m == nil && changed != nil {
			select {
			case <-changed:
				continue
			case <-late.C:
			case <-ctx.Done():
			}
		}
		if m == nil {
			return nil, cmp.Or(refused, fmt.Errorf("%w: %s", ErrNoEndpoint, e.reason()))
		}
		tried[m] = true
		dialer := net.Dialer{Timeout: dialTimeout}
		conn, err := dialer.DialContext(ctx, "tcp", hostPort)
		if err == nil {
			return &connection{Conn: conn, answered: sync.OnceFunc(m.unanswered.Done)}, nil
		}
		m.unanswered.Done()
		if ctx.Err() != nil {
			return nil, err
		}
		refused = err
	}
}

// pick returns the untried endpoint that was not used for longest, and counts a connection to it; nil when there is
// none.
func (e *Endpoints) pick(tried map[*member]bool, chosen func(Address) bool) (next *member, hostPort string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.members {
		if m.retired || tried[m] || next != nil && !before(m, next) || !chosen(m.address) {
			continue
		}
		if found, err := e.resolve(m.address); err == nil {
			next, hostPort = m, found
		}
	}
	if next != nil {
		e.turn++
		next.used = e.turn
		next.unanswered.Add(1)
	}
	return next, hostPort
}

func before(a, b *member) bool {
	return cmp.Or(cmp.Compare(a.used, b.used), cmp.Compare(a.address.IP, b.address.IP),
		cmp.Compare(a.address.Port, b.address.Port)) < 0
}

// reason says why no endpoint was found.
func (e *Endpoints) reason() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	going, running := 0, 0
	var unreached error
	for _, m := range e.members {
		if m.retired {
			going++
		} else if _, err := e.resolve(m.address); err == nil {
			running++
		} else {
			unreached = err
		}
	}
	switch ready := len(e.members) - going; {
	case running > 0:
		return fmt.Sprintf("%d ready, but none of the version that is meant", ready)
	case ready > 0:
		return fmt.Sprintf("%d ready, but none listens there: %v", ready, unreached)
	case going+e.unready > 0:
		return fmt.Sprintf("none of %d is ready", going+e.unready)
	}
	return "no pod is selected"
}

// connection reports the first byte from the endpoint.
type connection struct {
	net.Conn
	answered func()
}

func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 || err != nil {
		c.answered()
	}
	return n, err
}

func (c *connection) Close() error {
	c.answered()
	return c.Conn.Close()
}

// CloseWrite lets the endpoint know that the client has sent all.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
