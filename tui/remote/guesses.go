// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// firstPause and lastPause bound the wait before the answer to a password, after wrong ones from the same address.
	firstPause = 250 * time.Millisecond
	lastPause  = 8 * time.Second
	// forgotten is the time after which the wrong passwords of an address do not count any more.
	forgotten = 10 * time.Minute
	// maxAddresses bounds the addresses that are remembered. More forget the one that was seen longest ago.
	maxAddresses = 1024
)

// guesses slow down who tries passwords, by address.
type guesses struct {
	clock clock.Clock

	mu sync.Mutex
	by map[string]guessing
}

// guessing is what one address has tried: wrong passwords, the last one at that time.
type guessing struct {
	wrong int
	at    time.Time
}

func newGuesses(c clock.Clock) *guesses { return &guesses{clock: c, by: map[string]guessing{}} }

// wait waits before a password of an address is looked at; false when ctx has ended.
func (g *guesses) wait(ctx context.Context, address string) bool {
	pause := g.pause(address)
	return pause == 0 || clock.Wait(ctx, g.clock, pause) == nil
}

func (g *guesses) pause(address string) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen := g.by[address]
	if seen.wrong == 0 || g.clock.Now().Sub(seen.at) > forgotten {
		return 0
	}
	return min(firstPause<<min(seen.wrong-1, 10), lastPause)
}

// count notes whether a password was right.
func (g *guesses) count(address string, right bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if right {
		delete(g.by, address)
		return
	}
	now := g.clock.Now()
	if _, known := g.by[address]; !known && len(g.by) >= maxAddresses {
		oldest := ""
		for one, seen := range g.by {
			if oldest == "" || seen.at.Before(g.by[oldest].at) {
				oldest = one
			}
		}
		delete(g.by, oldest)
	}
	seen := g.by[address]
	if now.Sub(seen.at) > forgotten {
		seen.wrong = 0
	}
	g.by[address] = guessing{seen.wrong + 1, now}
}
