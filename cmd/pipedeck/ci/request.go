// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// callTimeout bounds a request to the environment, which runs in the same process.
	callTimeout = 10 * time.Second
	// requestTries bounds how often a request is sent, with pauses from firstPause to longestPause: no event would
	// begin it again.
	requestTries = 5
	firstPause   = 250 * time.Millisecond
	longestPause = 4 * time.Second
)

// request sends a request, again while it ends with one of these codes: the disk of the environment may be full for a
// moment, or the machine busy.
func request(ctx context.Context, call func(context.Context) error, passing ...codes.Code) error {
	pauses := clock.NewBackoff(firstPause, longestPause)
	for try := 1; ; try++ {
		err := requestOnce(ctx, call)
		if !slices.Contains(passing, status.Code(err)) || try == requestTries ||
			pauses.Wait(ctx, clock.System{}) != nil {
			return err
		}
	}
}

func requestOnce(ctx context.Context, call func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return call(bounded)
}
