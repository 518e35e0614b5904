// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff draws the pauses between tries of one thing. Each pause has a ceiling, which doubles from the first to the
// longest, and is drawn from its upper half: clients that failed together do not return together. A Backoff is for one
// goroutine.
type Backoff struct {
	first, longest time.Duration
	tries          int
}

// NewBackoff returns a Backoff whose pauses have ceilings from first to longest, both positive.
func NewBackoff(first, longest time.Duration) *Backoff {
	return &Backoff{first: first, longest: longest}
}

// Next draws the next pause.
func (b *Backoff) Next() time.Duration {
	b.tries++
	return Pause(b.first, b.longest, b.tries)
}

// Wait pauses before the next try. It returns the cause of the end of ctx if that comes first.
func (b *Backoff) Wait(ctx context.Context, timer Timer) error { return Wait(ctx, timer, b.Next()) }

// Reset begins again with the first pause, after a success.
func (b *Backoff) Reset() { b.tries = 0 }

// Pause draws the pause after so many failed tries, at least one.
func Pause(first, longest time.Duration, tries int) time.Duration {
	ceiling := min(first, longest)
	for range tries - 1 {
		if ceiling > longest/2 {
			ceiling = longest
			break
		}
		ceiling *= 2
	}
	return ceiling/2 + rand.N(ceiling-ceiling/2) + 1
}
