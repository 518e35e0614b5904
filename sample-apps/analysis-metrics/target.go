// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	// pause is the time between two requests to a target.
	pause = 50 * time.Millisecond
	// window is the time that the share of failures is about.
	window = 3 * time.Second
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 64 << 10
)

// target is what gets requests.
type target struct {
	name, address string
	client        *http.Client

	mu        sync.Mutex
	good, bad uint64
	// recent are the answers within the window, the oldest first: at most window/pause of them.
	recent []answer
}

type answer struct {
	at     time.Time
	failed bool
}

func newTarget(name, address string) *target {
	// A new connection each time: a Service chooses a pod for each connection.
	transport := &http.Transport{DisableKeepAlives: true}
	return &target{name: name, address: address, client: &http.Client{Transport: transport, Timeout: 2 * time.Second}}
}

// send sends requests until ctx ends.
func (t *target) send(ctx context.Context) {
	ticks := time.NewTicker(pause)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			t.request(ctx)
		}
	}
}

// request counts the answer of a pod. There may be no pod now: then there is no answer, or it comes from what
// stands before the pods.
func (t *target) request(ctx context.Context) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.address, nil)
	if err != nil {
		return
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	switch resp.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return
	}
	t.count(time.Now(), resp.StatusCode >= http.StatusInternalServerError)
}

func (t *target) count(at time.Time, failed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if failed {
		t.bad++
	} else {
		t.good++
	}
	t.recent = append(t.recent, answer{at, failed})
	t.forget(at)
}

// forget drops the answers before the window.
func (t *target) forget(now time.Time) {
	old := 0
	for old < len(t.recent) && now.Sub(t.recent[old].at) > window {
		old++
	}
	t.recent = append(t.recent[:0], t.recent[old:]...)
}

// counts are the answers since the start, and the share of failures within the window; known is false without answers
// in it.
func (t *target) counts(now time.Time) (good, bad uint64, share float64, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(now)
	failed := 0
	for _, a := range t.recent {
		if a.failed {
			failed++
		}
	}
	if len(t.recent) == 0 {
		return t.good, t.bad, 0, false
	}
	return t.good, t.bad, float64(failed) / float64(len(t.recent)), true
}
