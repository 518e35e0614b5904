// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

var errUnfinished = errors.New("the stage has not come to its end there")

// outcome is how the deploy targets of a stage ended.
type outcome struct {
	order []string

	mu    sync.Mutex
	ended map[string]error
}

func newOutcome(at []place) *outcome {
	o := &outcome{ended: map[string]error{}}
	for _, p := range at {
		o.order = append(o.order, p.target.Name)
	}
	return o
}

func (o *outcome) put(target string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended[target] = err
}

func (o *outcome) failed() (names []string) {
	for _, name := range o.order {
		if o.ended[name] != nil {
			names = append(names, name)
		}
	}
	return names
}

// show puts the results next to the stage in a few words; the SDK reports each target.
func (o *outcome) show(ctx context.Context, req *stage.Request) error {
	failed := o.failed()
	text := fmt.Sprintf("%d of %d deploy targets", len(o.order)-len(failed), len(o.order))
	if len(failed) > 0 {
		text += ", failed: " + strings.Join(failed, ", ")
	}
	if name, _ := config.SingleName(req.Stage.Name); name == config.StageTrafficRouting {
		if traffic, err := config.DecodeTraffic(req.Options); err == nil {
			text = traffic.String() + " at " + text
		}
	}
	return req.Client.Display(ctx, text)
}

// judge returns the error that the stage ends with, if it does; err is all that failed.
func (o *outcome) judge(req *stage.Request, policy config.FailurePolicy, err error) error {
	failed := len(o.failed())
	switch {
	case err == nil || !policy.Allows(failed, len(o.order)):
		return err
	case failed == 0: // a target that was not even begun
		return err
	}
	req.Log.Error(err.Error())
	req.Log.Successf("The stage succeeds nevertheless, since failurePolicy is %s", policy)
	return nil
}
