// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

func changeCases() []Case {
	return []Case{{
		ID: "livestate.changes.wait", Capability: LiveState, run: changesWait,
		Title: "a question for changes waits until there is one",
		Why:   "piped asks again at once, and both are busy with questions",
		Next:  "hold AwaitChanges back until something has changed since the position of the request",
	}, {
		ID: "livestate.changes.stop", Capability: LiveState, run: changesStop,
		Title: "a question for changes does not hold up the end of the process",
		Why:   "each update of the plugin would take until the grace period is over",
		Next:  "answer the waiting questions at SIGTERM",
	}, {
		ID: "livestate.changes.instance", Capability: LiveState, run: changesInstance,
		Title: "an answer about changes names its process and its position",
		Why:   "after a restart piped would take old positions for new ones, and miss changes",
		Next:  "fill instance with a text that no other process has",
	}}
}

func (p *probe) changes(x *session, limit time.Duration,
	request *livestate.AwaitChangesRequest) (*livestate.AwaitChangesResponse, error) {
	ctx, cancel := context.WithTimeout(p.ctx, limit)
	defer cancel()
	return livestate.NewLivestateChangeServiceClient(x.conn).AwaitChanges(ctx, request)
}

var errNoChanges = skip("it does not notify of changes; piped asks every minute")

// firstChange asks until the plugin has nothing new; answers come at once before that.
func firstChange(p *probe, x *session) (*livestate.AwaitChangesResponse, error) {
	answer, err := p.changes(x, 500*time.Millisecond, &livestate.AwaitChangesRequest{})
	if status.Code(err) == codes.Unimplemented {
		return nil, errNoChanges
	}
	if died := x.gone(err); died != nil {
		return nil, died
	}
	if err != nil && status.Code(err) != codes.DeadlineExceeded {
		return nil, fmt.Errorf("AwaitChanges ended with %s", words(err))
	}
	return answer, nil
}

func changesWait(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	answer, err := firstChange(p, x)
	if err != nil {
		return err
	}
	request := &livestate.AwaitChangesRequest{Instance: answer.GetInstance(), Position: answer.GetPosition()}
	const most = 20
	began := time.Now()
	for count := 0; time.Since(began) < time.Second; count++ {
		answer, err := p.changes(x, time.Second, request)
		if err != nil {
			return nil //nolint:nilerr // it waits
		}
		if count >= most {
			return fmt.Errorf("it answered %d questions for changes in %s", count,
				time.Since(began).Round(time.Millisecond))
		}
		request = &livestate.AwaitChangesRequest{Instance: answer.GetInstance(), Position: answer.GetPosition()}
	}
	return nil
}

func changesStop(p *probe) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	first, err := firstChange(p, x)
	if err != nil {
		return err
	}
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		_, _ = p.changes(x, p.suite.bounds.Stop*2, &livestate.AwaitChangesRequest{Instance: first.GetInstance(),
			Position: first.GetPosition()})
	}()
	p.pause(100 * time.Millisecond)
	err = x.terminate(p.ctx)
	x.process.kill()
	<-asked
	if err != nil {
		return fmt.Errorf("while a question for changes waits: %w", err)
	}
	return nil
}

func changesInstance(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	answer, err := firstChange(p, x)
	switch {
	case err != nil:
		return err
	case answer == nil:
		return skip("nothing changes")
	case answer.GetInstance() == "":
		return errors.New("AwaitChanges answers without an instance")
	}
	return nil
}
