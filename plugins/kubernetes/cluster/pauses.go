// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"math"
	"time"

	backoff "k8s.io/apimachinery/pkg/util/wait"
)

// jitter is the part by which a pause may be longer: plugins that lost a server together do not return together.
const jitter = 0.2

// Pauses returns the pauses between tries, without an end: they double from first to longest. Step draws the next one.
func Pauses(first, longest time.Duration) *backoff.Backoff {
	return &backoff.Backoff{Duration: first, Factor: 2, Jitter: jitter, Steps: math.MaxInt32, Cap: longest}
}

// Wait waits for the next pause. It returns the cause of the end of ctx if that comes first.
func Wait(ctx context.Context, pauses *backoff.Backoff) error {
	timer := time.NewTimer(pauses.Step())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
