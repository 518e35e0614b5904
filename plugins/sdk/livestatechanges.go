// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

const (
	// maxChanged bounds the applications that are remembered one by one; the oldest are then reported as "any".
	maxChanged = 4096
	// changesWait is how long a question without an answer is held. Far below the idle limits of connections.
	changesWait = time.Minute
)

// LivestateWatcher is an optional part of a LivestatePlugin: it reports when a live state is new, so that piped does
// not ask in vain.
type LivestateWatcher interface {
	LivestateChanges() *LivestateChanges
}

// LivestateChanges remembers which applications have changed. It may be used by several goroutines.
type LivestateChanges struct {
	instance string
	wait     time.Duration

	mu       sync.Mutex
	position int64
	changed  map[string]int64 // the position of the last change, by application
	// forgotten is the highest position that is no longer in changed.
	forgotten int64
	news      chan struct{} // closed at the next change
}

// NewLivestateChanges remembers nothing yet.
func NewLivestateChanges() *LivestateChanges {
	return &LivestateChanges{instance: rand.Text(), wait: changesWait, changed: map[string]int64{},
		news: make(chan struct{})}
}

// Mark says that the live state of an application has changed.
func (c *LivestateChanges) Mark(applicationID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.position++
	c.changed[applicationID] = c.position
	if len(c.changed) > maxChanged {
		c.forgetOldest()
	}
	close(c.news)
	c.news = make(chan struct{})
}

func (c *LivestateChanges) forgetOldest() {
	oldest, at := "", c.position+1
	for id, position := range c.changed {
		if position < at {
			oldest, at = id, position
		}
	}
	delete(c.changed, oldest)
	c.forgotten = max(c.forgotten, at)
}

// await answers as soon as something has changed since the position of the request, or ctx has ended.
func (c *LivestateChanges) await(ctx context.Context,
	req *livestate.AwaitChangesRequest) *livestate.AwaitChangesResponse {
	timer := time.NewTimer(c.wait)
	defer timer.Stop()
	for {
		answer, news := c.since(req)
		if answer.GetAll() || len(answer.GetApplicationIds()) > 0 {
			return answer
		}
		select {
		case <-news:
		case <-timer.C:
			return answer
		case <-ctx.Done():
			return answer
		}
	}
}

func (c *LivestateChanges) since(req *livestate.AwaitChangesRequest) (*livestate.AwaitChangesResponse,
	<-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer := &livestate.AwaitChangesResponse{Instance: c.instance, Position: c.position}
	if req.GetInstance() != c.instance || req.GetPosition() < c.forgotten {
		answer.All = true
		return answer, c.news
	}
	for id, position := range c.changed {
		if position > req.GetPosition() {
			answer.ApplicationIds = append(answer.ApplicationIds, id)
		}
	}
	slices.Sort(answer.ApplicationIds)
	return answer, c.news
}

// livestateChangeService answers piped; stopping ends the questions that wait.
type livestateChangeService struct {
	livestate.UnimplementedLivestateChangeServiceServer
	changes  *LivestateChanges
	stopping context.Context
}

func (s *livestateChangeService) AwaitChanges(ctx context.Context,
	req *livestate.AwaitChangesRequest) (*livestate.AwaitChangesResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	return s.changes.await(ctx, req), nil
}
