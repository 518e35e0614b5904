// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"
)

// Retry bounds the repetition of a request: the first pause, which doubles, and how often the request is sent in all.
type Retry struct {
	First time.Duration
	Tries int
}

// DefaultRetry outlasts a passing state of an API server: about 6 s.
var DefaultRetry = Retry{First: 200 * time.Millisecond, Tries: 6}

// Do sends a request until it succeeds, again says that it is not worth another try, or ctx ends. It returns the last
// error of the request, or the cause of the end of ctx during a pause. A request whose answer was lost may have
// been carried out: it has to be one that may come twice.
func (r Retry) Do(ctx context.Context, again func(error) bool, request func() error) error {
	pauses := Pauses(r.First, r.First<<r.Tries)
	for try := 1; ; try++ {
		err := request()
		if err == nil || ctx.Err() != nil || try >= r.Tries || !again(err) {
			return err
		}
		if err := Wait(ctx, pauses); err != nil {
			return err
		}
	}
}
