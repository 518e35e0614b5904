// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"slices"
	"sync"
)

// maxTunnels is how many port-forward connections one pod gets. A stream whose reader has stopped
// holds up the others of its connection, so busy ones are only shared when there are that many.
const maxTunnels = 4

// pool holds the port-forward connections to the pods of one forward.
type pool struct {
	dial dialer

	mu      sync.Mutex
	closed  bool
	tunnels map[pod][]*tunnel
	// ready are the pods that new connections may go to.
	ready map[pod]bool
	// dying are tunnels that no one finds any more. They are closed without the lock: sending that to a
	// node that is gone can take long.
	dying []*tunnel
}

func newPool(dial dialer) *pool {
	return &pool{dial: dial, tunnels: map[pod][]*tunnel{}, ready: map[pod]bool{}}
}

// open begins a stream to a pod.
func (p *pool) open(ctx context.Context, to pod) (*stream, error) {
	t, isNew, err := p.take(to)
	if err != nil {
		return nil, err
	}
	if isNew {
		t.connect(p.dial, to)
	}
	s, err := t.open(ctx, to.port)
	if err != nil {
		p.giveBack(to, t)
		return nil, err
	}
	s.closed = func() { p.giveBack(to, t) }
	return s, nil
}

// take reserves a tunnel: an unused one, else a new one, else the one with the fewest streams.
func (p *pool) take(to pod) (least *tunnel, isNew bool, err error) {
	defer p.bury()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, errClosed
	}
	p.dropDead(to)
	all := p.tunnels[to]
	for _, t := range all {
		if least == nil || t.uses < least.uses {
			least = t
		}
	}
	if least == nil || (least.uses > 0 && len(all) < maxTunnels) {
		least, isNew = newTunnel(), true
		p.tunnels[to] = append(all, least)
	}
	least.uses++
	return least, isNew, nil
}

// giveBack ends a use. Of the unused tunnels one is kept, as long as the pod is ready.
func (p *pool) giveBack(to pod, t *tunnel) {
	p.mu.Lock()
	t.uses--
	p.prune(to)
	p.mu.Unlock()
	p.bury()
}

// bury closes what is not used any more. The caller does not hold the lock.
func (p *pool) bury() {
	p.mu.Lock()
	dying := p.dying
	p.dying = nil
	p.mu.Unlock()
	for _, t := range dying {
		t.close()
	}
}

// setPods reports which pods new connections may go to; the others' tunnels end with their last use.
// It returns the pods that are in use, but unknown by now.
func (p *pool) setPods(known pods) (unknown []pod) {
	defer p.bury()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = map[pod]bool{}
	for _, to := range known.ready {
		p.ready[to] = true
	}
	for to := range p.tunnels {
		p.prune(to)
	}
	for to := range p.tunnels {
		if !p.ready[to] && !slices.Contains(known.going, to) {
			unknown = append(unknown, to)
		}
	}
	return unknown
}

// drop breaks the connections to a pod that is gone: no one else would.
func (p *pool) drop(gone pod) {
	p.mu.Lock()
	tunnels := p.tunnels[gone]
	delete(p.tunnels, gone)
	p.mu.Unlock()
	for _, t := range tunnels {
		t.close()
	}
}

// prune parts with the tunnels to a pod that are not needed any more.
func (p *pool) prune(to pod) {
	p.dropDead(to)
	spare := 0
	if p.ready[to] && !p.closed {
		spare = 1
	}
	var kept []*tunnel
	for _, t := range p.tunnels[to] {
		switch {
		case t.uses > 0:
			kept = append(kept, t)
		case spare > 0:
			spare--
			kept = append(kept, t)
		default:
			p.dying = append(p.dying, t)
		}
	}
	p.store(to, kept)
}

// dropDead forgets tunnels that have broken; streams in them find out by themselves.
func (p *pool) dropDead(to pod) {
	var alive []*tunnel
	for _, t := range p.tunnels[to] {
		if t.dead() {
			p.dying = append(p.dying, t)
			continue
		}
		alive = append(alive, t)
	}
	p.store(to, alive)
}

func (p *pool) store(to pod, tunnels []*tunnel) {
	if len(tunnels) == 0 {
		delete(p.tunnels, to)
		return
	}
	p.tunnels[to] = tunnels
}

// close breaks every connection.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	all := p.tunnels
	p.tunnels = map[pod][]*tunnel{}
	p.mu.Unlock()
	for _, tunnels := range all {
		for _, t := range tunnels {
			t.close()
		}
	}
}
